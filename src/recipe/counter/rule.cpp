// SPDX-License-Identifier: Apache-2.0
#include "recipe/counter/rule.hpp"

#include "operation/read_number.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace corozk::detail {

namespace {

/// Higher revisions are foreign, and incrementing them might overflow.
bool parse_revision(std::string_view text, std::uint64_t& revision) {
    constexpr std::uint64_t highest = std::numeric_limits<std::int64_t>::max();
    return read_number(text, revision) && revision <= highest;
}

/// Removes the text up to the separator.
std::string_view take(std::string_view& rest, char separator) {
    std::size_t at = rest.find(separator);
    std::string_view token = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
    return token;
}

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
}

std::optional<counter_record> parse_native(std::string_view data) {
    counter_record record;
    std::string_view rest = data;
    if (!read_number(take(rest, ' '), record.value))
        return std::nullopt;
    record.identity = take(rest, ' ');
    if (!is_name(record.identity))
        return std::nullopt;
    if (!parse_revision(take(rest, ' '), record.revision))
        return std::nullopt;
    if (!parse_revision(take(rest, ' '), record.forgotten))
        return std::nullopt;
    while (!rest.empty()) {
        std::string_view entry = take(rest, ' ');
        counter_writer writer;
        writer.name = take(entry, ':');
        if (!is_name(writer.name))
            return std::nullopt;
        if (!read_number(take(entry, ':'), writer.operation))
            return std::nullopt;
        if (!parse_revision(entry, writer.revision))
            return std::nullopt;
        record.writers.push_back(std::move(writer));
    }
    return record;
}

std::optional<counter_record> parse_big_endian(std::string_view data, std::size_t size) {
    if (data.size() != size)
        return std::nullopt;
    std::uint64_t bits = 0;
    for (char c : data)
        bits = bits << 8 | static_cast<unsigned char>(c);
    counter_record record;
    record.value = size == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))
                             : static_cast<std::int64_t>(bits);
    return record;
}

/// Reduces the table to `count` writers by dropping the lowest revisions, in O(n): another client
/// may have written a very long one.
void forget_oldest(counter_record& record, std::size_t count) {
    using age = std::pair<std::uint64_t, std::size_t>;  // the revision, and the place in the table
    std::vector<age> ages;
    ages.reserve(record.writers.size());
    for (const counter_writer& writer : record.writers)
        ages.emplace_back(writer.revision, ages.size());
    std::vector<age> sorted = ages;
    auto youngest = sorted.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(sorted.begin(), youngest, sorted.end());
    record.forgotten = std::max(record.forgotten, youngest->first);
    std::vector<counter_writer> kept;
    for (std::size_t i = 0; i < ages.size(); ++i) {
        if (ages[i] > *youngest)
            kept.push_back(std::move(record.writers[i]));
    }
    record.writers = std::move(kept);
}

/// Versions wrap around.
std::uint32_t sets_since(const counter_attempt& attempt, const corozk::stat& stat) noexcept {
    return static_cast<std::uint32_t>(stat.version) -
           static_cast<std::uint32_t>(attempt.stat.version);
}

/// Whether each set since the base was an update: otherwise the update may have been undone by an older
/// text.
bool only_updated_since(const counter_attempt& attempt,
                        const counter_record& seen,
                        const corozk::stat& stat) {
    return stat.czxid == attempt.stat.czxid &&
           sets_since(attempt, stat) ==
               static_cast<std::uint32_t>(seen.revision - attempt.base.revision);
}

/// 0 if it is not in the table.
std::uint64_t revision_of(const counter_record& record, std::string_view writer) noexcept {
    for (const counter_writer& w : record.writers) {
        if (w.name == writer)
            return w.revision;
    }
    return 0;
}

/// The last revisions of the writers that take turns, the latest first. One that has missed about two
/// rounds is not among them.
std::vector<std::uint64_t> recent_turns(const counter_record& record) {
    std::vector<std::uint64_t> last;
    last.reserve(record.writers.size());
    for (const counter_writer& writer : record.writers)
        last.push_back(writer.revision);
    std::sort(last.begin(), last.end(), std::greater<>());
    std::size_t count = 0;
    while (count < last.size() && record.revision <= last[count] + (2 * count + 1) * longest_turn)
        ++count;
    last.resize(count);
    return last;
}

std::string print_big_endian(std::int64_t value, std::size_t size) {
    std::string data(size, '\0');
    auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = size; i-- > 0; bits >>= 8)
        data[i] = static_cast<char>(bits & 0xff);
    return data;
}

}  // namespace

std::optional<counter_format> format_of(compatibility whose, unsigned bits) noexcept {
    if (whose == compatibility::curator && bits == 32)
        return counter_format::curator_integer;
    if (bits != 64)
        return std::nullopt;
    switch (whose) {
        case compatibility::native: return counter_format::native;
        case compatibility::curator: return counter_format::curator_long;
        case compatibility::kazoo: return counter_format::kazoo;
    }
    return std::nullopt;
}

std::optional<counter_record> parse_counter(counter_format format, std::string_view data) {
    switch (format) {
        case counter_format::native: return parse_native(data);
        case counter_format::curator_long: return parse_big_endian(data, 8);
        case counter_format::curator_integer: return parse_big_endian(data, 4);
        case counter_format::kazoo: {
            counter_record record;
            if (!read_padded_number(data, record.value))
                return std::nullopt;
            return record;
        }
    }
    return std::nullopt;
}

std::string print_counter(counter_format format, const counter_record& record) {
    switch (format) {
        case counter_format::curator_long: return print_big_endian(record.value, 8);
        case counter_format::curator_integer: return print_big_endian(record.value, 4);
        case counter_format::kazoo: return std::to_string(record.value);
        case counter_format::native: break;
    }
    std::string data = std::to_string(record.value);
    data += ' ' + record.identity;
    data += ' ' + std::to_string(record.revision);
    data += ' ' + std::to_string(record.forgotten);
    for (const counter_writer& writer : record.writers) {
        data += ' ' + writer.name;
        data += ':' + std::to_string(writer.operation);
        data += ':' + std::to_string(writer.revision);
    }
    return data;
}

bool fits(counter_format format, std::int64_t value) noexcept {
    if (format != counter_format::curator_integer)
        return true;
    return value >= std::numeric_limits<std::int32_t>::min() &&
           value <= std::numeric_limits<std::int32_t>::max();
}

counter_record advance(const counter_record& base,
                       std::int64_t value,
                       std::string_view writer,
                       std::uint64_t operation,
                       std::size_t remembered_writers) {
    counter_record next = base;
    next.value = value;
    ++next.revision;
    auto own = std::find_if(next.writers.begin(),
                            next.writers.end(),
                            [writer](const counter_writer& w) { return w.name == writer; });
    if (own != next.writers.end()) {
        own->operation = operation;
        own->revision = next.revision;
    } else {
        std::size_t places = std::max<std::size_t>(remembered_writers, 1);
        if (next.writers.size() >= places)
            forget_oldest(next, next.writers.size() - places + 1);
        counter_writer entry;
        entry.name = writer;
        entry.operation = operation;
        entry.revision = next.revision;
        next.writers.push_back(std::move(entry));
    }
    return next;
}

bool has_rivals(const counter_record& record, std::string_view writer) {
    const std::size_t own = revision_of(record, writer) == record.revision ? 1 : 0;
    return record.writers.size() > own && recent_turns(record).size() > own;
}

counter_turn turn_of(const counter_record& record,
                     std::string_view writer,
                     bool lost,
                     bool patient) {
    counter_turn turn;
    const std::uint64_t own = revision_of(record, writer);
    const bool leads = own == record.revision;
    if (leads ? record.writers.size() < 2 : !lost)
        return turn;
    const std::vector<std::uint64_t> last = recent_turns(record);
    std::uint64_t done = 1;      // of the current turn
    std::uint64_t expected = 1;  // the length of a turn: more than the average, as turns grow
    if (last.size() > 1) {
        done = (record.revision - last[1] - 1) % longest_turn + 1;
        expected = 2 * ((record.revision - last.back()) / (last.size() - 1)) - 1;
        expected = std::min(expected, longest_turn);
    }
    if (leads && (last.size() < 2 || done < longest_turn))
        return turn;
    const std::uint64_t left = !leads && expected > done ? expected - done : 0;
    // Those that have waited longer. Half of their time, as not all of them need it.
    std::uint64_t before = patient ? 1 : 0;
    if (own > 0) {
        before = static_cast<std::uint64_t>(
            std::count_if(last.begin(), last.end(), [own](auto other) { return other < own; }));
    }
    turn.now = left + before == 0;
    turn.pause = static_cast<unsigned>(left - std::min<std::uint64_t>(left, 1) +
                                       (before * expected + 1) / 2);
    return turn;
}

counter_verdict judge(counter_format format,
                      const counter_attempt& attempt,
                      const counter_record& seen,
                      const corozk::stat& stat) {
    if (format != counter_format::native) {
        if (stat.czxid != attempt.stat.czxid)
            return counter_verdict::unknown;
        if (stat.mzxid == attempt.stat.mzxid)
            return counter_verdict::pending;
        bool next = sets_since(attempt, stat) == 1;
        bool ours = seen.value == attempt.result.value;
        return next && !ours ? counter_verdict::not_applied : counter_verdict::unknown;
    }
    if (seen.identity != attempt.base.identity)
        return counter_verdict::unknown;
    if (seen.revision <= attempt.base.revision) {
        // Another client may have written this text again, perhaps over the update.
        const bool untouched =
            stat.czxid == attempt.stat.czxid && stat.version == attempt.stat.version;
        return untouched ? counter_verdict::pending : counter_verdict::unknown;
    }
    for (const counter_writer& writer : seen.writers) {
        if (writer.name != attempt.writer)
            continue;
        if (writer.operation >= attempt.operation)
            return counter_verdict::applied;
        return only_updated_since(attempt, seen, stat) ? counter_verdict::not_applied
                                                       : counter_verdict::unknown;
    }
    return seen.forgotten < attempt.result.revision && only_updated_since(attempt, seen, stat)
               ? counter_verdict::not_applied
               : counter_verdict::unknown;
}

counter_step apply(counter_format format,
                   counter_operation operation,
                   std::int64_t value,
                   std::int64_t operand,
                   std::int64_t expected) {
    counter_step step;
    step.before = step.after = value;
    switch (operation) {
        case counter_operation::read: return step;
        case counter_operation::add:
            if (__builtin_add_overflow(value, operand, &step.after))
                step.error = errc::overflow;
            break;
        case counter_operation::exchange: step.after = operand; break;
        case counter_operation::compare_and_set:
            if (value != expected)
                return step;
            step.exchanged = true;
            step.after = operand;
            break;
    }
    if (!step.error && !fits(format, step.after))
        step.error = errc::overflow;
    if (step.error) {
        step.after = value;
        step.exchanged = false;
    }
    step.applied = !step.error;
    step.changed = step.after != value;
    return step;
}

}  // namespace corozk::detail
