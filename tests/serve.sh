# Sourced by the scripts that need a running server.
#   start_server COMMAND ARGS...   starts it, waits for its first line, sets $url and $server
#   stop_server                    asks it to end, and fails unless it does so cleanly
# The server is ended on every exit path.

server=
server_log=

start_server() {
  server_log=$(mktemp "${TMPDIR:-/tmp}/twolane-server.XXXXXX")
  trap end_server EXIT
  "$@" >"$server_log" 2>"$server_log.err" &
  server=$!
  local attempt
  for ((attempt = 0; attempt < 200; attempt++)); do
    url=$(sed -n 's|^twolane listening on \(http://[^ ]*\)$|\1|p' "$server_log" | head -n 1)
    if [ -n "$url" ]; then
      echo "server: $1 at $url"
      return 0
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  echo "the server did not say where it listens: $*" >&2
  return 1
}

stop_server() {
  kill -TERM "$server" 2>/dev/null || { echo "the server ended before it was asked to" >&2; return 1; }
  local attempt
  for ((attempt = 0; attempt < 400; attempt++)); do
    if ! kill -0 "$server" 2>/dev/null; then
      local status=0
      wait "$server" || status=$?
      server=
      if [ "$status" != 0 ]; then
        echo "the server ended with status $status" >&2
        return 1
      fi
      return 0
    fi
    sleep 0.05
  done
  echo "the server did not end within 20 s of SIGTERM" >&2
  return 1
}

end_server() {
  local status=$?
  trap - EXIT
  if [ -n "$server" ]; then
    kill -KILL "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  if [ "$status" != 0 ] && [ -n "$server_log" ]; then
    echo "--- what the server printed:" >&2
    tail -n 50 "$server_log" "$server_log.err" >&2 || true
  fi
  rm -f "$server_log" "$server_log.err"
  exit "$status"
}
