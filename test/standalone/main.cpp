// SPDX-License-Identifier: Apache-2.0
//
// The headers are compiled in files that CMake makes, one for each; here they are only linked.

int main() {}
