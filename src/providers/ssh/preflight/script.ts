/** The script of the preflight. It only reads, and prints `name=value` lines; src/providers/ssh/preflight/facts.ts reads them. */
import type { HostScript } from '../channel/host-script.ts';

/** The last line: without it the output is not complete. */
export const LAST_FACT = 'end=complete';

/**
 * Needs nothing but a POSIX shell, coreutils and /proc: what a host lacks is a fact that is not there. Every value is a line of at most 256
 * characters. Its stdin has two lines: the address and the port of the API server, or two empty ones.
 */
export const PREFLIGHT: HostScript = {
  name: 'preflight',
  text: `PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
IFS= read -r api_host
IFS= read -r api_port

fact() { printf '%s=%.256s\\n' "$1" "$2"; }
has() { command -v "$1" >/dev/null 2>&1; }
limited() { if has timeout; then timeout 5 "$@"; else "$@"; fi; }
first_line() {
  [ -r "$2" ] || return 0
  line=
  IFS= read -r line < "$2" 2>/dev/null
  fact "$1" "$line"
}

fact uid "$(id -u)"
fact time "$(date +%s)"
fact os "$(uname -s)"
fact arch "$(uname -m)"
fact kernel "$(uname -r)"
fact hostname "$(uname -n)"
first_line machine-id /etc/machine-id
first_line system-uuid /sys/class/dmi/id/product_uuid
if [ -r /etc/os-release ]; then
  while IFS= read -r line; do
    case $line in ID=*|VERSION_ID=*|PRETTY_NAME=*) fact "release-\${line%%=*}" "\${line#*=}" ;; esac
  done < /etc/os-release
fi

if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  fact cgroup 2
  first_line cgroup-controllers /sys/fs/cgroup/cgroup.controllers
elif [ -r /proc/cgroups ]; then
  fact cgroup 1
  enabled=
  while read -r name _ _ on; do [ "$on" = 1 ] && enabled="$enabled $name"; done < /proc/cgroups
  fact cgroup-controllers "$enabled"
fi
[ -d /run/systemd/system ] && fact systemd running
if has systemctl; then
  fact systemd-version "$(systemctl --version 2>/dev/null | { read -r _ version _; printf '%s' "$version"; })"
fi

if [ -r /proc/swaps ]; then
  while read -r name _; do [ "$name" = Filename ] || fact swap "$name"; done < /proc/swaps
fi
while read -r key value _; do [ "$key" = MemTotal: ] && fact memory-kib "$value"; done < /proc/meminfo
for folder in /var/lib /usr/local /etc; do
  fact "space-kib.$folder" "$(df -Pk "$folder" 2>/dev/null | { read -r _; read -r _ total _ free _; printf '%s %s' "$total" "$free"; })"
  fact "inodes.$folder" "$(df -Pi "$folder" 2>/dev/null | { read -r _; read -r _ total _ free _; printf '%s %s' "$total" "$free"; })"
  if [ -w "$folder" ]; then fact writable "$folder"; else fact not-writable "$folder"; fi
done

[ -e /run/systemd/timesync/synchronized ] && fact time-sync systemd-timesyncd
for file in /proc/[0-9]*/comm; do
  name=
  { IFS= read -r name < "$file"; } 2>/dev/null
  case $name in
    kubelet|containerd|dockerd|crio|k3s|k3s-server|k3s-agent|k0s|rke2) fact process "$name" ;;
    chronyd|ntpd|ntpsec|openntpd) fact time-sync "$name" ;;
  esac
done
for file in /proc/net/tcp /proc/net/tcp6; do
  [ -r "$file" ] || continue
  fact sockets "$file"
  while read -r _ local _ state _; do [ "$state" = 0A ] && fact listens "\${local##*:}"; done < "$file"
done

if [ -r /etc/resolv.conf ]; then
  while read -r key value _; do [ "$key" = nameserver ] && fact nameserver "$value"; done < /etc/resolv.conf
fi
if [ -n "$api_host" ]; then
  if has getent; then
    fact api-address "$(limited getent ahosts "$api_host" 2>/dev/null | { read -r address _; printf '%s' "$address"; })"
  fi
  if has bash; then
    if limited bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$api_host" "$api_port" 2>/dev/null; then
      fact api-port open
    else
      fact api-port closed
    fi
  fi
fi

for path in /etc/kubernetes/kubelet.conf /etc/kubernetes/bootstrap-kubelet.conf /var/lib/kubelet/config.yaml /var/lib/kubelet/pki /etc/rancher/k3s /var/lib/rancher /var/lib/kubenode /etc/systemd/system/kubenode-agent.service; do
  [ -e "$path" ] && fact path "$path"
done
for path in /etc/cni/net.d/*; do [ -e "$path" ] && fact cni "\${path##*/}"; done
for path in /sys/class/net/*; do [ -e "$path" ] && fact interface "\${path##*/}"; done
for name in net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables vm.overcommit_memory kernel.panic kernel.panic_on_oops fs.inotify.max_user_instances fs.inotify.max_user_watches; do
  first_line "sysctl.$name" "/proc/sys/$(printf '%s' "$name" | tr . /)"
done
modules="/lib/modules/$(uname -r)"
for name in overlay br_netfilter nf_conntrack; do
  if [ -d "/sys/module/$name" ]; then fact module "$name"
  elif [ -r "$modules/modules.dep" ]; then
    if grep -q "/$name.ko" "$modules/modules.dep" "$modules/modules.builtin" 2>/dev/null; then fact module "$name"; else fact no-module "$name"; fi
  fi
done
first_line selinux-enforce /sys/fs/selinux/enforce
for name in mount umount tar iptables nft; do has "$name" && fact program "$name"; done
for name in libatomic.so.1 libstdc++.so.6; do
  for path in /lib*/"$name" /usr/lib*/"$name" /lib*/*/"$name" /usr/lib*/*/"$name"; do
    [ -e "$path" ] && { fact library "$name"; break; }
  done
done
echo ${LAST_FACT}
`,
};
