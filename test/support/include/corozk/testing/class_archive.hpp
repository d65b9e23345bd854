// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/server.hpp"

#include <filesystem>

namespace corozk::testing {

/**
 * @brief Writes an archive of the Java classes that a server loads.
 *
 * A server whose server_options::class_archive, or $COROZK_TEST_CLASS_ARCHIVE, names the archive maps
 * these classes into memory instead of reading and verifying them, and starts in two thirds of the time.
 * The archive is good for the same Java and the same jars. It replaces an existing file at once, also
 * while servers use that.
 *
 * @param options as the servers are that will use it
 * @throws server_error if a server cannot be started, or Java writes no archive.
 */
void write_class_archive(const std::filesystem::path& file, server_options options = {});

}  // namespace corozk::testing
