// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk {

/** @brief The format of nodes and data of service discovery. */
enum class service_format : std::uint8_t {
    curator,  ///< Those of Curator's x-discovery: a node for each id.

    /// Those of Finagle and of Twitter's commons, a ServerSet: nodes `member_NUMBER`. There are
    /// only dynamic instances, `additional_endpoints` and `shard`; neither `ssl_port` nor
    /// `uri_spec`. A payload is an object of strings (`metadata`). The id is not stored: the node
    /// number is derived from it, and a found instance's id is its node name.
    server_set,
};

/** @brief The lifetime of a registration; Curator's `ServiceType`. */
enum class service_type : std::uint8_t {
    dynamic,             ///< That of the registering object; registered again in each session.
    static_,             ///< Until it is unregistered. Curator's REST server expires it.
    permanent,           ///< Until it is unregistered.
    dynamic_sequential,  ///< Registered by Curator 5 only: as dynamic, numbered by the server.
};

/** @brief Where an instance offers something else, such as its metrics. */
struct additional_endpoint {
    additional_endpoint() = default;
    additional_endpoint(std::string host_, std::uint16_t port_)
        : host(std::move(host_)), port(port_) {}

    std::string host;        ///< An IP address or a host name.
    std::uint16_t port = 0;  ///< The port.

    friend bool operator==(const additional_endpoint&, const additional_endpoint&) = default;
};

/** @brief An instance of a service; Curator's `ServiceInstance`, or a member of a ServerSet. */
struct service_instance {
    service_instance() = default;
    /** @brief With a random id (a UUID), and the current time as `registration_time`. */
    COROZK_DECL service_instance(std::string name, std::string address, std::uint16_t port);

    std::string name;                       ///< The name of the service: a node name.
    std::string id;                         ///< A node name, unique within the service.
    std::string address;                    ///< An IP address or a host name.
    std::optional<std::uint16_t> port;      ///< The port.
    std::optional<std::uint16_t> ssl_port;  ///< The port for TLS.

    /// Any JSON text; empty: none (`null`). It is parsed and written again: whitespace is lost, and
    /// numbers may change their form (0.10) or lose digits (beyond 64 bits). Use strings where that
    /// matters.
    std::string payload;

    std::int64_t registration_time = 0;  ///< Milliseconds since 1970 (UTC); informative.

    service_type type = service_type::dynamic;  ///< The lifetime.

    /// A template for `uri`, such as "{scheme}://{address}:{port}/api"; empty: none. The variables
    /// are scheme ("https" if there is an SSL port, otherwise "http"), name, id, address, port,
    /// ssl-port, registration-time-utc, service-type, and [ and ], which stand for braces.
    std::string uri_spec;

    bool enabled = true;  ///< Otherwise a `service_provider` does not choose it.

    /// By name, such as "http-admin". Only in a ServerSet.
    std::map<std::string, additional_endpoint> additional_endpoints;
    std::optional<std::int32_t> shard;  ///< A number for the instance. Only in a ServerSet.

    /// The session that owns it; 0 for static and permanent ones. Not part of the data.
    std::int64_t session_id = 0;
    /// Increases with each registration of a dynamic instance, but not by updates (`czxid`); static
    /// and permanent ones that are registered again keep it. Not part of the data.
    std::int64_t incarnation = 0;
    /// The name of the node in which it was found; empty otherwise. `update` and `unregister` apply
    /// to this node if it is set, otherwise to the one named by the id; `register_instance` always
    /// applies to the latter. Not part of the data.
    std::string node;

    /** @brief The name of its node: `node`, or, if that is empty, the name derived from the id. */
    COROZK_DECL std::string node_name(service_format format = service_format::curator) const;

    /** @brief The URI by `uri_spec`. Unknown variables are empty. */
    COROZK_DECL std::string uri() const;

    /** @brief Sets a payload that is a string, which Curator's `String` payloads are. */
    COROZK_DECL void set_text(std::string_view text);

    /** @brief The payload, if it is a string. */
    COROZK_DECL std::optional<std::string> text() const;

    friend bool operator==(const service_instance&, const service_instance&) = default;
};

/** @brief The state of a service in a `service_cache`. */
struct service_state {
    service_state() = default;
    std::uint64_t revision = 0;               ///< Incremented by every change; 0: not read yet.
    std::vector<service_instance> instances;  ///< Sorted by node name.
    /// Children that are not valid instances, by node name.
    std::vector<std::string> malformed;
};

/** @brief Where to reach an instance: an endpoint for `boost::asio::async_connect`. */
class service_endpoint {
public:
    service_endpoint() = default;
    service_endpoint(boost::asio::ip::address address,
                     std::uint16_t port,
                     std::string host,
                     std::shared_ptr<const service_instance> of)
        : address_(std::move(address)),
          port_(port),
          host_(std::move(host)),
          instance_(std::move(of)) {}

    const boost::asio::ip::address& address() const noexcept { return address_; }  ///< The address.
    std::uint16_t port() const noexcept { return port_; }                          ///< The port.

    /** @brief The instance. The endpoint must not be default-constructed. */
    const service_instance& instance() const noexcept { return *instance_; }

    /** @brief The host name or address that the instance has registered. */
    const std::string& host_name() const noexcept { return host_; }
    /** @brief The port as text. */
    std::string service_name() const { return std::to_string(port_); }

    operator boost::asio::ip::tcp::endpoint() const { return {address_, port_}; }  // NOLINT
    operator boost::asio::ip::udp::endpoint() const { return {address_, port_}; }  // NOLINT

private:
    boost::asio::ip::address address_;
    std::uint16_t port_ = 0;
    std::string host_;
    std::shared_ptr<const service_instance> instance_;
};

/**
 * @brief The endpoints of a service's available instances, in the order in which to try them.
 *
 * A range like the results of an Asio resolver: pass it, or its iterators, to
 * `boost::asio::async_connect`. With iterators the result says which instance was connected to.
 */
class service_endpoints {
public:
    using value_type = service_endpoint;                                   ///< An endpoint.
    using const_iterator = std::vector<service_endpoint>::const_iterator;  ///< Constant.
    using iterator = const_iterator;                                       ///< Constant, too.

    service_endpoints() = default;
    explicit service_endpoints(std::vector<service_endpoint> list) : list_(std::move(list)) {}

    const_iterator begin() const noexcept { return list_.begin(); }  ///< The first to try.
    const_iterator end() const noexcept { return list_.end(); }      ///< The end.
    std::size_t size() const noexcept { return list_.size(); }       ///< How many.
    bool empty() const noexcept { return list_.empty(); }            ///< Never from a provider.

private:
    std::vector<service_endpoint> list_;
};

}  // namespace corozk
