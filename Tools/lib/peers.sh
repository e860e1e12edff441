# shellcheck shell=bash
# Sourced by Tools/compare-peers: builds, starts, fills and ends the servers that entitled is
# compared with. All listen on loopback and run on one processor.
#
# Every function that starts a server adds its process to peers_processes; peers_end ends them.

peers_processes=()
# Set by the script: where output and data of the servers go, and their processor.
peers_logs="${peers_logs:-}"
server_cpu="${server_cpu:-0}"

# The names and values that LoadGenerator's PeerPopulation expects: customer- and 31 digits,
# verdict- and 20 digits.
peers_key_format='customer-%031d'
peers_value_format='verdict-%020d'

peers_fail() {
    printf 'compare-peers: %s\n' "$*" >&2
    exit 1
}

# Builds echo and unary_server into directory $1; what is newer than its sources stays.
peers_build() {
    local directory="$1" source generated="$1/generated"
    mkdir -p "$generated"
    if [ ! "$directory/echo" -nt Tools/Peers/echo.c ]; then
        cc -std=c17 -O2 -Wall -Wextra -Werror -o "$directory/echo" Tools/Peers/echo.c
    fi
    for source in Tools/Peers/unary_server.cc proto/entitled/v1/entitled.proto; do
        if [ "$directory/unary_server" -nt "$source" ]; then continue; fi
        protoc -I proto --cpp_out="$generated" --grpc_out="$generated" \
            --plugin=protoc-gen-grpc="$(command -v grpc_cpp_plugin)" entitled/v1/entitled.proto
        # The flags are words.
        # shellcheck disable=SC2046
        c++ -std=c++17 -O2 -Wall -I "$generated" -o "$directory/unary_server" \
            Tools/Peers/unary_server.cc "$generated"/entitled/v1/*.cc \
            $(pkg-config --cflags --libs grpc++ protobuf)
        break
    done
}

# Waits until something listens at port $1 of 127.0.0.1; $2 is its name.
peers_wait() {
    local port="$1" name="$2" tries=0
    until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        tries=$((tries + 1))
        if [ "$tries" -gt 200 ]; then peers_fail "$name does not come up; see $peers_logs"; fi
        sleep 0.1
    done
}

# Refuses when something listens at port $1 already: it would be measured in a peer's place.
peers_check_free() {
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
        peers_fail "port $1 of 127.0.0.1 is taken; see --ports"
    fi
}

# Starts a server on the processor of the servers: name, port, command.
peers_start() {
    local name="$1" port="$2"
    shift 2
    peers_check_free "$port"
    taskset -c "$server_cpu" "$@" >"$peers_logs/$name.log" 2>&1 &
    peers_processes+=("$!")
    peers_wait "$port" "$name"
}

# Prints a line per customer: $1 is the format of one line with two numbers, $2 how many.
peers_lines() {
    awk -v format="$1" -v count="$2" \
        'BEGIN { for (number = 0; number < count; number++) printf format, number, number }'
}

# Redis without persistence: port, customers.
peers_start_redis() {
    peers_start redis "$1" redis-server --port "$1" --bind 127.0.0.1 --save '' --appendonly no \
        --dir "$peers_logs" --daemonize no
    peers_lines "SET $peers_key_format $peers_value_format\r\n" "$2" |
        redis-cli -p "$1" --pipe >"$peers_logs/redis-fill.log" ||
        peers_fail "Redis cannot be filled; see $peers_logs/redis-fill.log"
}

# memcached with one thread, and as many requests of a connection in a row as one may have in
# flight here (its own default is 20): port, customers.
peers_start_memcached() {
    local answer="" connection
    peers_start memcached "$1" memcached -l 127.0.0.1 -p "$1" -U 0 -t 1 -m 1024 -R 1000 \
        -u "$(id -un)"
    exec {connection}<>"/dev/tcp/127.0.0.1/$1"
    peers_lines "set $peers_key_format 0 0 28 noreply\r\n$peers_value_format\r\n" "$2" \
        >&"$connection"
    # It answers in order: with this answer all is stored.
    printf 'version\r\n' >&"$connection"
    read -r -t 30 answer <&"$connection" || true
    exec {connection}>&-
    case "$answer" in
        VERSION*) ;;
        *) peers_fail "memcached cannot be filled: ${answer:-no answer}" ;;
    esac
}

# What stands before a program of PostgreSQL: as its own user when we are root, for it refuses that.
# setpriv(1) becomes the program, so that its process is the one to end.
peers_postgres_user=()
if [ "$(id -u)" -eq 0 ]; then
    peers_postgres_user=(setpriv --reuid=postgres --regid=postgres --init-groups)
fi

# Prints the directory of the newest PostgreSQL's programs.
peers_postgres_programs() {
    local program found=""
    for program in /usr/lib/postgresql/*/bin/postgres; do
        if [ -x "$program" ]; then found="$(dirname "$program")"; fi
    done
    printf '%s' "$found"
}

# PostgreSQL on a cluster of its own, in directory $1: port, customers. Its processes, one per
# connection, are on the processor of the servers as it is.
peers_start_postgresql() {
    local directory="$1" port="$2" count="$3" programs
    programs="$(peers_postgres_programs)"
    if [ -z "$programs" ]; then peers_fail "there is no PostgreSQL here"; fi
    mkdir -p "$directory"
    if [ "$(id -u)" -eq 0 ]; then chown postgres "$directory"; fi
    "${peers_postgres_user[@]}" "$programs/initdb" -D "$directory/cluster" -U postgres -A trust \
        --no-sync -E UTF8 --locale=C >"$peers_logs/initdb.log" 2>&1 ||
        peers_fail "no PostgreSQL cluster; see $peers_logs/initdb.log"
    peers_start postgresql "$port" "${peers_postgres_user[@]}" "$programs/postgres" \
        -D "$directory/cluster" -p "$port" -h 127.0.0.1 -k "$directory" \
        -c max_connections=1100 -c fsync=off -c jit=off
    psql -q -h 127.0.0.1 -p "$port" -U postgres -v ON_ERROR_STOP=1 \
        -v count="$count" >"$peers_logs/postgresql-fill.log" 2>&1 <<'SQL' ||
CREATE TABLE answers (key text PRIMARY KEY, value text NOT NULL);
INSERT INTO answers
    SELECT 'customer-' || lpad(number::text, 31, '0'), 'verdict-' || lpad(number::text, 20, '0')
    FROM generate_series(0, :count - 1) AS number;
VACUUM ANALYZE answers;
SQL
        peers_fail "PostgreSQL cannot be filled; see $peers_logs/postgresql-fill.log"
}

# Ends what was started, the last first, and waits for it.
peers_end() {
    local index process
    for ((index = ${#peers_processes[@]} - 1; index >= 0; index--)); do
        process="${peers_processes[index]}"
        kill -TERM "$process" 2>/dev/null || true
    done
    for process in ${peers_processes[@]+"${peers_processes[@]}"}; do
        for _ in {1..50}; do
            if ! kill -0 "$process" 2>/dev/null; then break; fi
            sleep 0.1
        done
        kill -KILL "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    peers_processes=()
}
