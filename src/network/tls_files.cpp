// SPDX-License-Identifier: Apache-2.0
#include "network/tls_files.hpp"

#include "network/read_file.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace corozk::detail {

namespace {

// For a program that writes a key into a pipe: nothing else waits.
constexpr std::chrono::seconds pipe_patience{10};

bool is_pipe(const std::string& file) {
    struct ::stat found {};
    return ::stat(file.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

/// @param piped what has come out of pipes, by their names: a pipe can be read once
std::string content_of(const std::string& file,
                       std::map<std::string, std::string>& piped,
                       std::string& problem) {
    if (!is_pipe(file))
        return read_file(file, problem);
    std::string& known = piped[file];
    if (known.empty())
        known = read_file(file, problem, pipe_patience);
    return known;
}

/// A PEM text of the options: from memory, or the content of a file.
std::string pem_text(const char* option,
                     const std::string& file,
                     const std::string& text,
                     std::map<std::string, std::string>& piped) {
    if (!file.empty() && !text.empty()) {
        throw std::runtime_error(std::string("set either ") + option + "_file or " + option +
                                 "_pem");
    }
    if (file.empty())
        return text;
    std::string why;
    std::string content = content_of(file, piped, why);
    if (why.empty() && content.empty())
        why = "it is empty";
    if (!why.empty()) {
        throw std::runtime_error(std::string("cannot read ") + option + "_file \"" + file +
                                 "\": " + why);
    }
    return content;
}

constexpr std::string_view begin_of_block = "-----BEGIN ";
constexpr std::string_view certificate_block = "CERTIFICATE";
constexpr std::string_view key_block = "PRIVATE KEY";  // also those of one algorithm, or encrypted

/// Whether what follows "-----BEGIN " is the name of a block that OpenSSL takes for one of this type.
bool is_block(std::string_view rest, std::string_view type) {
    std::string_view name = rest.substr(0, rest.find("-----"));
    if (type == certificate_block)
        return name == type || name == "X509 CERTIFICATE";
    return name.ends_with(type) && name != "OPENSSH PRIVATE KEY";
}

/// The text of an option, which must be PEM with a block of this type, or empty.
std::string pem(const char* option,
                std::string_view type,
                const std::string& file,
                const std::string& text,
                std::map<std::string, std::string>& piped) {
    std::string found = pem_text(option, file, text, piped);
    if (found.empty())
        return found;
    const std::string what = file.empty() ? std::string(option) + "_pem"
                                          : std::string(option) + "_file \"" + file + "\"";
    std::string_view first;
    for (std::size_t at = found.find(begin_of_block); at != found.npos;
         at = found.find(begin_of_block, at)) {
        at += begin_of_block.size();
        const std::string_view rest = std::string_view(found).substr(at);
        if (is_block(rest, type))
            return found;
        if (first.empty())
            first = rest.substr(0, std::min(rest.find("-----"), rest.find('\n')));
    }
    if (first.empty())
        throw std::runtime_error(what + " is not PEM: it has no line \"-----BEGIN ...\"");
    throw std::runtime_error(what + " must have a block \"-----BEGIN " + std::string(type) +
                             "-----\", but begins with \"-----BEGIN " + std::string(first) +
                             "-----\"");
}

/// Whether OpenSSL finds an authority in this folder by its name: "3513523f.0".
bool has_hashed_authorities(const char* folder) {
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
        const std::string name = entry.path().filename().string();
        if (name.size() == 10 && name.ends_with(".0") &&
            name.find_first_not_of("0123456789abcdef") == 8)
            return true;
    }
    return false;
}

}  // namespace

tls_files::states tls_file_reader::look_at_files() const {
    tls_files::states result;
    for (const std::string* file :
         {&options_.ca_file, &options_.certificate_file, &options_.key_file}) {
        if (file->empty())
            continue;
        struct ::stat found {};
        // A missing file has a state, too, and a pipe always the same.
        if (::stat(file->c_str(), &found) != 0 || S_ISFIFO(found.st_mode))
            found = {};
        // Not only the time of the last modification, which a copy may have kept.
        result[*file] = {found.st_mtim.tv_sec,
                         found.st_mtim.tv_nsec,
                         found.st_ctim.tv_sec,
                         found.st_ctim.tv_nsec,
                         static_cast<std::int64_t>(found.st_size),
                         static_cast<std::int64_t>(found.st_ino)};
    }
    return result;
}

tls_files tls_file_reader::read() const noexcept {
    tls_files files;
    try {
        files.piped = piped;
        files.found = look_at_files();
        files.changed = !known || *known != files.found;
        if (files.changed)
            read(files);
    } catch (const std::exception& e) {
        files.problem = e.what();
    }
    return files;
}

void tls_file_reader::read(tls_files& files) const {
    const tls_options& o = options_;
    files.authorities = pem("ca", certificate_block, o.ca_file, o.ca_pem, files.piped);
    if (files.authorities.empty() && !o.system_authorities) {
        throw std::runtime_error(
            "no authority is trusted: set ca_file, ca_pem or "
            "system_authorities");
    }
    // By default OpenSSL reads a file with all authorities at once, which takes tens of milliseconds
    // for each client; from the folder it reads the one that it needs.
    const bool by_name = !system_.chosen && has_hashed_authorities(system_.folder.c_str());
    if (o.system_authorities && !by_name && !system_.file.empty()) {
        std::string unreadable;  // as for OpenSSL, it need not be there
        files.system_authorities = read_file(system_.file, unreadable);
    }
    files.certificate =
        pem("certificate", certificate_block, o.certificate_file, o.certificate_pem, files.piped);
    files.key = pem("key", key_block, o.key_file, o.key_pem, files.piped);
    if (files.certificate.empty() != files.key.empty())
        throw std::runtime_error("a client certificate needs both the certificate and its key");
}

std::string_view next_certificates(std::string_view text, std::size_t& at, int most) {
    std::size_t begin = text.npos;
    while (most > 0 && at < text.size()) {
        const std::size_t block = text.find(begin_of_block, at);
        if (block == text.npos)
            break;
        at = block + begin_of_block.size();
        if (!is_block(text.substr(at), certificate_block))
            continue;
        begin = std::min(begin, block);
        at = std::min(text.find("-----END ", at), text.size());
        at = std::min(text.find('\n', at), text.size());
        --most;
    }
    return begin == text.npos ? std::string_view() : text.substr(begin, at - begin);
}

}  // namespace corozk::detail
