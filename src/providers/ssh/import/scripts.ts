/**
 * The scripts of an import. Each is a constant, gets what differs by its stdin, one value a line, and may be killed and repeated. They need
 * a POSIX shell and coreutils. `root` is empty: another one maps all paths into a folder.
 */
import type { HostScript } from '../channel/host-script.ts';

/** Only root can write to the folder in which a copy is verified: no other user can exchange it before it is run. */
const PRELUDE = `PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
umask 022
IFS= read -r root
state=$root/var/lib/kubenode
incoming=$state/incoming
placed=$root/usr/local/lib/kubenode/kubenode-agent
linked=$state/agent/program
fact() { printf '%s=%.256s\\n' "$1" "$2"; }
has_sum() { [ -f "$1" ] && [ "$(sha256sum < "$1" | { read -r sum _; printf '%s' "$sum"; })" = "$2" ]; }
space() {
  at=$state
  while [ -n "$at" ] && [ ! -d "$at" ]; do at=\${at%/*}; done
  [ -w "\${at:-/}" ] || fact read-only "\${at:-/}"
  fact free-kib "$(df -Pk "\${at:-/}" 2>/dev/null | { read -r _; read -r _ _ _ free _; printf '%s' "$free"; })"
}
`;

/** The line that ends the facts: without it the output is not complete. */
export const LAST_LINE = 'end=complete';

/**
 * Values: root, UID of the Machine, and the sha256 of the programs for x86_64 and aarch64, or empty lines. Whether the host belongs to
 * another Machine is read here to spare it the copy: `kubenode-agent install` has the last word.
 */
export const LOOK_UP: HostScript = {
  name: 'search for the program of the agent',
  text: `${PRELUDE}IFS= read -r uid
IFS= read -r x86_64
IFS= read -r aarch64
arch=$(uname -m)
fact arch "$arch"
case $arch in x86_64) sum=$x86_64 ;; aarch64) sum=$aarch64 ;; *) sum= ;; esac
for tool in gzip sha256sum df; do command -v "$tool" >/dev/null 2>&1 || fact lacks "$tool"; done
if [ -n "$sum" ]; then
  for file in "$placed" "$incoming/$sum/kubenode-agent"; do
    if has_sum "$file" "$sum"; then fact program "$file"; break; fi
  done
fi
for file in "$linked" "$placed"; do
  if [ -x "$file" ]; then fact installed "$file"; break; fi
done
if [ -f "$state/import.json" ]; then
  if grep -qF "\\"$uid\\"" "$state/import.json" || ! grep -qF '"machineUid"' "$state/import.json"
  then fact owner own
  else fact owner other
  fi
  fact owner-name "$(sed -n 's/.*"machine" *: *"\\([^"]*\\)".*/\\1/p' "$state/import.json" | { read -r name; printf '%s' "$name"; })"
fi
space
echo ${LAST_LINE}
`,
};

/**
 * Values: root and sha256. The compressed program follows them. Until it is verified it has the name of this process, and what a killed
 * copy left is removed first.
 */
export const COPY: HostScript = {
  name: 'copy of the program of the agent',
  text: `${PRELUDE}umask 077
IFS= read -r sum
part=$incoming/.part.$$
finish() {
  rm -rf "$part"
  fact result "$1"
  space
  echo ${LAST_LINE}
  exit 0
}
trap 'rm -rf "$part"' EXIT
trap 'exit 70' HUP INT TERM PIPE
{ mkdir -p "$incoming" && chmod 0700 "$incoming"; } || finish NotWritten
rm -rf "$incoming"/.part.*
{ mkdir "$part" && : > "$part/kubenode-agent"; } || finish NotWritten
gzip -dc > "$part/kubenode-agent" || finish NotUnpacked
has_sum "$part/kubenode-agent" "$sum" || finish WrongSum
chmod 0755 "$part/kubenode-agent" || finish NotWritten
{ rm -rf "\${incoming:?}/$sum" && mv "$part" "$incoming/$sum"; } || finish NotWritten
fact program "$incoming/$sum/kubenode-agent"
finish Copied
`,
};

/**
 * Values: root, path of the program, name of the Machine. JSON for the program follows them. A program that refuses the host leaves nothing
 * there; after another failure the next try finds its copy.
 */
export const INSTALL: HostScript = {
  name: 'installation of the agent',
  text: `${PRELUDE}IFS= read -r program
IFS= read -r machine
"$program" install --machine "$machine" -o json
code=$?
case $code in 0|65) rm -rf "$incoming" ;; esac
exit "$code"
`,
};

const NOT_INSTALLED = `[ -x "$linked" ] || { echo 'NotInstalled the agent has no program on this host' >&2; exit 65; }
`;

/** Values: root, name of the Machine, and the option --renew or an empty line. */
export const REQUEST: HostScript = {
  name: 'certificate request of the agent',
  text: `${PRELUDE}IFS= read -r machine
IFS= read -r renew
${NOT_INSTALLED}exec "$linked" request --machine "$machine" \${renew:+"$renew"}
`,
};

/** Values: root and name of the Machine. JSON for the program follows them. */
export const ACCEPT: HostScript = {
  name: 'delivery of the certificate',
  text: `${PRELUDE}IFS= read -r machine
${NOT_INSTALLED}exec "$linked" accept --machine "$machine"
`,
};

/** Values: root, path of the program, UID of the Machine, cleanup. */
export const RELEASE: HostScript = {
  name: 'release of the host',
  text: `${PRELUDE}IFS= read -r program
IFS= read -r uid
IFS= read -r cleanup
exec "$program" release --cleanup "$cleanup" --machine-uid "$uid" -o json
`,
};

/** Removes what copies have left, also on a host that was never installed. Values: root. */
export const FORGET: HostScript = {
  name: 'removal of copies of the program',
  text: `${PRELUDE}rm -rf "$incoming" || exit
rmdir "$state" 2>/dev/null
exit 0
`,
};
