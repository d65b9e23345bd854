// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>

namespace corozk::testing {

/** @brief Where a temporary_directory is made. */
enum class storage {
    memory,  ///< on tmpfs (/dev/shm) where that is writable, else as `disk`
    disk,    ///< under $TMPDIR, else /tmp
};

/**
 * @brief A new, empty directory that is removed with its contents on destruction.
 *
 * A process that is killed cannot remove its directories. Each is therefore locked by its owner
 * for as long as that lives, and creating one first removes those of the same user in the
 * same place whose owner is gone.
 *
 * A copy of the object in a forked child process does not remove it.
 *
 * Thread safety: distinct objects are safe, a shared one is safe for reading.
 */
class temporary_directory {
public:
    /** @brief Makes the folder. @throws std::system_error if that fails. */
    explicit temporary_directory(storage where = storage::disk);

    /** @brief Removes the folder; errors are ignored. */
    ~temporary_directory();

    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    /** @brief The folder's absolute path. */
    const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
    int lock_ = -1;
    int owner_ = 0;
};

}  // namespace corozk::testing
