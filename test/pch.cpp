// SPDX-License-Identifier: Apache-2.0
//
// Empty: the target that holds the tests' precompiled headers needs a file.
