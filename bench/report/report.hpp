// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/array.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace corozk::bench {

/// Makes the folder of a report that is to be written later.
/// @throws usage_error if that cannot be done, or nothing be written there, or gnuplot is missing
void prepare_report(const std::filesystem::path& folder);

/// Makes a folder with a page (index.html), its pictures (*.svg, with gnuplot's scripts), the
/// distributions in HdrHistogram's format (*.hgrm) and the rows themselves (rows.json).
///
/// @param rows as in a file of --json
/// @return what was written, for people
std::string write_report(const std::filesystem::path& folder, const boost::json::array& rows);

/// The rows of files that --json made. @throws usage_error if one cannot be read
boost::json::array read_rows(const std::vector<std::string>& files);

}  // namespace corozk::bench
