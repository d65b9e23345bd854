// SPDX-License-Identifier: Apache-2.0
// Certificates for tests of TLS, and the lines with which a server uses them.
#pragma once

#include <corozk/options.hpp>
#include <corozk/testing/server.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace corozk::testing {

/// An authority, what it has signed for servers and clients, and another authority.
struct certificates {
    certificates() {
        std::string script = "set -e; cd '" + folder.path().string() + "'\n" + R"(
            for ca in ca other; do
                openssl req -x509 -newkey rsa:2048 -nodes -keyout $ca.key -out $ca.pem -days 2 \
                    -subj /CN=corozk-$ca
            done
            valid='-days 2'
            expired='-days -1' # OpenSSL 3.0 has no dates, and 3.5 no negative days
            if openssl x509 -help 2>&1 | grep -q not_after; then
                expired='-not_before 20240101000000Z -not_after 20240102000000Z'
            fi
            sign() { # name authority period names
                openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj /CN=$1
                printf "subjectAltName=$4\n$5" >$1.names
                openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial \
                    -out $1.pem $3 -extfile $1.names
                openssl pkcs12 -export -in $1.pem -inkey $1.key -out $1.p12 -passout pass:secret
            }
            sign server ca "$valid" DNS:localhost,IP:127.0.0.1
            sign named ca "$valid" DNS:localhost
            sign underscored ca "$valid" DNS:zk_1
            sign elsewhere ca "$valid" DNS:elsewhere.example
            sign expired ca "$expired" DNS:localhost,IP:127.0.0.1
            sign client ca "$valid" DNS:client
            sign stranger other "$valid" DNS:stranger
            sign between ca "$valid" DNS:between 'basicConstraints=critical,CA:true\n'
            sign below between "$valid" DNS:localhost,IP:127.0.0.1
            sign outdated ca "$expired" DNS:outdated 'basicConstraints=critical,CA:true\n'
            sign fresh outdated "$valid" DNS:localhost,IP:127.0.0.1
            for one in below.between fresh.outdated; do # servers that send their authority's as well
                cat ${one%.*}.pem ${one#*.}.pem >chain.pem
                openssl pkcs12 -export -in chain.pem -inkey ${one%.*}.key -out ${one%.*}.p12 \
                    -passout pass:secret
            done
            openssl ecparam -name prime256v1 -genkey -noout -out curve.key
            openssl req -x509 -key curve.key -out curve.pem -days 2 -subj /CN=curve
            openssl rsa -aes128 -in client.key -out locked.key -passout pass:open
            keytool -importcert -noprompt -alias ca -file ca.pem -keystore trust.p12 \
                -storetype PKCS12 -storepass secret
        )";
        script = "{ " + script + "} >'" + file("log") + "' 2>&1";
        std::ofstream(file("make.sh")) << script;
        int rc = std::system(("bash '" + file("make.sh") + "'").c_str());
        if (rc != 0)
            throw std::runtime_error("no certificates: " + text("log"));
    }

    std::string file(const std::string& name) const { return (folder.path() / name).string(); }

    std::string text(const std::string& name) const {
        std::ifstream in(file(name));
        std::ostringstream content;
        content << in.rdbuf();
        return content.str();
    }

    tls_options trusting(const std::string& authority) const {
        tls_options tls;
        tls.ca_file = file(authority);
        return tls;
    }

    tls_options client() const {
        tls_options tls = trusting("ca.pem");
        tls.certificate_file = file("client.pem");
        tls.key_file = file("client.key");
        return tls;
    }

    temporary_directory folder;
};

/// For the whole program.
inline const certificates& made() {
    static const certificates all;
    return all;
}

/// Gives a server a port for TLS. Its certificate is one of the above; it asks clients for theirs
/// ("need") or not ("none").
inline void speak_tls(server_options& options,
                      std::uint16_t port,
                      const std::string& identity = "server",
                      const std::string& client_auth = "need") {
    auto line = [&](std::string name, std::string value) {
        options.config_lines.push_back(name + "=" + value);
    };
    line("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
    line("secureClientPort", std::to_string(port));
    line("ssl.keyStore.location", made().file(identity + ".p12"));
    line("ssl.keyStore.password", "secret");
    line("ssl.keyStore.type", "PKCS12");
    line("ssl.trustStore.location", made().file("trust.p12"));
    line("ssl.trustStore.password", "secret");
    line("ssl.trustStore.type", "PKCS12");
    line("ssl.clientAuth", client_auth);
}

}  // namespace corozk::testing
