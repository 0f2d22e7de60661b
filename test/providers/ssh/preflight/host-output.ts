/** What the script of the preflight prints on a host that passes every check. */
import type { PreflightInput } from '../../../../src/providers/ssh/preflight/check.ts';
import { type PreflightFacts, parseFacts } from '../../../../src/providers/ssh/preflight/facts.ts';

const GOOD = `uid=0
time=1795000000
os=Linux
arch=x86_64
kernel=6.1.0-18-amd64
hostname=n1
machine-id=0123456789abcdef0123456789abcdef
system-uuid=4C4C4544-0042-3510-8053-B4C04F4A3233
release-PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
release-VERSION_ID="12"
release-ID=debian
cgroup=2
cgroup-controllers=cpuset cpu io memory hugetlb pids rdma misc
systemd=running
systemd-version=252
memory-kib=4000000
space-kib./var/lib=100000000 50000000
inodes./var/lib=1000000 900000
writable=/var/lib
space-kib./usr/local=100000000 50000000
inodes./usr/local=1000000 900000
writable=/usr/local
writable=/etc
time-sync=systemd-timesyncd
sockets=/proc/net/tcp
listens=0016
listens=0016
nameserver=10.0.0.53
api-address=10.0.0.9
api-port=open
interface=eth0
interface=lo
sysctl.net.ipv4.ip_forward=1
sysctl.net.bridge.bridge-nf-call-iptables=1
sysctl.vm.overcommit_memory=1
sysctl.fs.inotify.max_user_instances=1024
module=overlay
module=br_netfilter
selinux-enforce=0
program=mount
program=umount
program=tar
program=nft
library=libatomic.so.1
library=libstdc++.so.6
end=complete
`;

/** The output with the lines of some facts replaced, or without them. `path` adds lines. */
export function hostOutput(changes: Readonly<Record<string, string | readonly string[]>> = {}): string {
  const names = Object.keys(changes);
  const kept = GOOD.split('\n').filter((line) => !names.some((name) => line.startsWith(`${name}=`)));
  const added = Object.entries(changes).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}=${value}`),
  );
  return [...added, ...kept].join('\n');
}

export function hostFacts(changes: Parameters<typeof hostOutput>[0] = {}): PreflightFacts {
  const facts = parseFacts(hostOutput(changes));
  if (!facts) throw new Error('the output is not complete');
  return facts;
}

/** Read at the time of the host, with an API server that is reachable. */
export function preflightInput(
  changes: Parameters<typeof hostOutput>[0] = {},
  more: Partial<PreflightInput> = {},
): PreflightInput {
  const started = new Date(1_795_000_000_000);
  return {
    facts: hostFacts(changes),
    started,
    ended: new Date(+started + 900),
    server: { host: 'api.example.com', port: 6443 },
    ...more,
  };
}
