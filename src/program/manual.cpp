// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"
#include <corozk/version.hpp>

#include <fmt/format.h>

#include <string_view>

namespace corozk::program {

namespace {

/// Escapes the requests of man(7).
std::string plain(std::string_view text) {
    std::string result;
    bool line_begins = true;
    for (char c : text) {
        if (line_begins && (c == '.' || c == '\''))
            result += "\\&";
        line_begins = c == '\n';
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else
            result += c;
    }
    return result;
}

std::string preformatted(std::string_view text) {
    return fmt::format(".nf\n{}\n.fi\n", plain(text));
}

std::string options_of(const CLI::App& app) {
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
        std::string name = option->get_name(option->get_positional(), true);
        if (option->get_description().empty())
            continue;
        std::string type;
        if (!option->get_positional() && option->get_items_expected_max() > 0 &&
            !option->get_type_name().empty())
            type = fmt::format(" \\fI{}\\fR", plain(option->get_type_name()));
        text += fmt::format(
            ".TP\n\\fB{}\\fR{}\n{}\n", plain(name), type, plain(option->get_description()));
    }
    return text;
}

std::string usage_of(const CLI::App& app) {
    auto formatter = std::dynamic_pointer_cast<CLI::Formatter>(app.get_formatter());
    return formatter ? formatter->make_usage(&app, app.get_name()) : std::string();
}

}  // namespace

std::string manual(const CLI::App& app) {
    std::string text = fmt::format(
        ".TH COROZK 1 \"\" \"corozk {}\" \"User Commands\"\n"
        ".SH NAME\ncorozk \\- locks, elections and queues of ZooKeeper on the command line\n"
        ".SH SYNOPSIS\n\\fBcorozk\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR ... [\\fB\\-\\-\\fR "
        "\\fIPROGRAM\\fR \\fIARGUMENT\\fR...]\n"
        ".SH DESCRIPTION\n{}\n.PP\n",
        version(),
        plain(app.get_description()));
    text += preformatted(app.get_footer());
    text += ".SH OPTIONS\nThese are common to all commands.\n" + options_of(app);
    text += ".SH COMMANDS\n";
    for (const CLI::App* sub : app.get_subcommands({})) {
        text += fmt::format(".SS corozk {}\n{}.\n.PP\n{}{}.PP\n{}",
                            sub->get_name(),
                            plain(sub->get_description()),
                            plain(usage_of(*sub)),
                            options_of(*sub),
                            preformatted(sub->get_footer()));
    }
    text +=
        ".SH ENVIRONMENT\n"
        ".TP\n\\fBCOROZK_HOSTS\\fR\nthe servers, unless \\-\\-hosts is given\n"
        ".TP\n\\fBCOROZK_DIALECT\\fR\nwhat the servers support, unless \\-\\-dialect is given\n"
        ".TP\n\\fBCOROZK_AUTH_FILE\\fR, \\fBCOROZK_AUTH\\fR\ncredentials, unless "
        "\\-\\-auth\\-file or \\-\\-auth is given\n"
        ".TP\n\\fBCOROZK_TLS_CA\\fR, \\fBCOROZK_TLS_CERT\\fR, \\fBCOROZK_TLS_KEY\\fR, "
        "\\fBCOROZK_TLS_KEY_PASSWORD\\fR, \\fBCOROZK_TLS_SERVER_NAME\\fR\nunless the options of "
        "these names are given\n"
        ".PP\nA command that is run does not inherit COROZK_AUTH and COROZK_TLS_KEY_PASSWORD.\n";
    return text;
}

}  // namespace corozk::program
