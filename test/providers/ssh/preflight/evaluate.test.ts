import { describe, expect, it } from 'vitest';
import { fail, type PreflightInput } from '../../../../src/providers/ssh/preflight/check.ts';
import {
  CHECK_NAMES,
  evaluatePreflight,
  hasState,
} from '../../../../src/providers/ssh/preflight/evaluate.ts';
import { preflightInput } from './host-output.ts';

type Changes = Parameters<typeof preflightInput>[0];
type Row = [check: string, expected: string, changes: Changes, more?: Partial<PreflightInput>];

const STARTED = new Date(1_795_000_000_000);
const at = (seconds: number): Changes => ({ time: String(1_795_000_000 + seconds) });

/** Each check with what makes it fail, warn, or unknown. */
const ROWS: readonly Row[] = [
  ['Sudo', 'Fail: the user has the id 1000', { uid: '1000' }],
  ['Sudo', 'Fail: sudo is not installed', { uid: '1000' }, { notRootReason: 'sudo is not installed' }],
  ['Sudo', 'Unknown: not known: the user', { uid: [] }],
  ['OperatingSystem', 'Fail: FreeBSD', { os: 'FreeBSD' }],
  ['OperatingSystem', 'Warn: Arch Linux', { 'release-ID': 'arch', 'release-PRETTY_NAME': 'Arch Linux' }],
  ['OperatingSystem', 'Warn: debian 10', { 'release-VERSION_ID': '"10"', 'release-PRETTY_NAME': [] }],
  [
    'OperatingSystem',
    'Pass: Debian GNU/Linux trixie/sid',
    { 'release-VERSION_ID': [], 'release-PRETTY_NAME': 'Debian GNU/Linux trixie/sid' },
  ],
  ['OperatingSystem', 'Warn: Linux without /etc/os-release', { 'release-ID': [] }],
  ['OperatingSystem', 'Unknown: not known: the operating system', { os: [] }],
  ['Architecture', 'Fail: riscv64', { arch: 'riscv64' }],
  ['Architecture', 'Pass: arm64', { arch: 'aarch64' }],
  ['Architecture', 'Unknown: not known: the architecture', { arch: [] }],
  ['Kernel', 'Fail: 4.18.0-553.el8', { kernel: '4.18.0-553.el8' }],
  ['Kernel', 'Fail: 3.10.0', { kernel: '3.10.0' }],
  ['Kernel', 'Pass: 4.19.0', { kernel: '4.19.0' }],
  ['Kernel', 'Pass: 5.4.0', { kernel: '5.4.0' }],
  ['Kernel', 'Unknown: not known: the kernel', { kernel: 'custom' }],
  ['Cgroup', 'Fail: no cgroups', { cgroup: [] }],
  ['Cgroup', 'Warn: version 1', { cgroup: '1' }],
  ['CgroupControllers', 'Fail: memory missing', { 'cgroup-controllers': 'cpu pids' }],
  ['CgroupControllers', 'Unknown: not known: the list of controllers', { 'cgroup-controllers': [] }],
  ['Systemd', 'Fail: systemd does not run', { systemd: [] }],
  ['Systemd', 'Fail: version 238', { 'systemd-version': '238' }],
  ['Systemd', 'Warn: version 239', { 'systemd-version': '239 (239-82.el8)' }],
  ['Systemd', 'Pass: version 247', { 'systemd-version': '247' }],
  ['Systemd', 'Pass: version 257', { 'systemd-version': '257.5' }],
  ['Systemd', 'Warn: version 258', { 'systemd-version': '258~rc1' }],
  ['Systemd', 'Unknown: not known: the version of systemd', { 'systemd-version': [] }],
  ['Programs', 'Fail: tar missing', { program: ['mount', 'umount', 'nft'] }],
  ['Libraries', 'Fail: libatomic.so.1 missing', { library: 'libstdc++.so.6' }],
  ['Programs', 'Warn: neither iptables nor nft', { program: ['mount', 'umount', 'tar'] }],
  ['KernelModules', 'Fail: overlay missing', { module: [], 'no-module': ['overlay'] }],
  ['KernelModules', 'Warn: br_netfilter missing', { module: 'overlay', 'no-module': 'br_netfilter' }],
  ['KernelModules', 'Unknown: not known: the modules of the kernel', { module: [] }],
  ['SELinux', 'Warn: enforcing', { 'selinux-enforce': '1' }],
  ['SELinux', 'Pass: not in use', { 'selinux-enforce': [] }],
  ['Sysctls', 'Warn: net.ipv4.ip_forward=0', { 'sysctl.net.ipv4.ip_forward': '0' }],
  ['Memory', 'Fail: 0.5 GiB', { 'memory-kib': '524288' }],
  ['Memory', 'Unknown: not known: the size of the memory', { 'memory-kib': [] }],
  ['Swap', 'Fail: /dev/sda2, /swapfile', { swap: ['/dev/sda2', '/swapfile'] }],
  ['DiskSpace', 'Fail: 1.0 GiB free in /var/lib', { 'space-kib./var/lib': '9999999 1048576' }],
  ['DiskSpace', 'Warn: 5.0 GiB free in /var/lib', { 'space-kib./var/lib': '9999999 5242880' }],
  ['DiskSpace', 'Unknown: not known: the free space of /var/lib', { 'space-kib./var/lib': [] }],
  ['Inodes', 'Fail: 4 % of the inodes free in /var/lib', { 'inodes./var/lib': '1000 49' }],
  ['Inodes', 'Warn: 14 % of the inodes free in /var/lib', { 'inodes./var/lib': '1000 149' }],
  ['Inodes', 'Pass: no limit in /var/lib', { 'inodes./var/lib': '0 0' }],
  ['Inodes', 'Unknown: not known: the free inodes of /var/lib', { 'inodes./var/lib': [] }],
  ['ReadOnlyFileSystems', 'Fail: read-only: /usr/local', { 'not-writable': '/usr/local' }],
  ['ReadOnlyFileSystems', 'Unknown: not known: whether the system folders can be written', { uid: '1000' }],
  ['ClockSkew', 'Fail: 3600 s ahead of this machine', at(3601)],
  ['ClockSkew', 'Fail: 3600 s behind this machine', at(-3601)],
  ['ClockSkew', 'Warn: 20 s behind this machine', at(-21)],
  ['ClockSkew', 'Pass: 5 s ahead of this machine', at(6)],
  ['ClockSkew', 'Pass: as here', at(60), { ended: new Date(+STARTED + 61_000) }],
  ['ClockSkew', 'Unknown: not known: the clock', { time: [] }],
  ['TimeSync', 'Warn: no time service', { 'time-sync': [] }],
  ['HostName', 'Fail: localhost.localdomain', { hostname: 'localhost.localdomain' }],
  ['HostName', 'Fail: Node_1 cannot be the name of a Node', { hostname: 'Node_1' }],
  [
    'HostName',
    'Fail: n1: it is the name of host b too',
    {},
    { nameTakenReason: 'it is the name of host b too' },
  ],
  ['HostName', 'Unknown: not known: the host name', { hostname: [] }],
  ['MachineId', 'Fail: no /etc/machine-id', { 'machine-id': '' }],
  ['MachineId', 'Fail: uninitialized is not a machine id', { 'machine-id': 'uninitialized' }],
  ['DuplicateHost', 'Fail: host b is the same host', {}, { duplicate: fail('host b is the same host', 'x') }],
  ['Ports', 'Fail: 10250 (kubelet) is in use', { listens: '280A' }],
  ['Ports', 'Unknown: not known: the ports in use', { sockets: [] }],
  ['DNS', 'Fail: api.example.com does not resolve', { 'api-address': '' }],
  ['DNS', 'Unknown: not known: whether api.example.com resolves', { 'api-address': [] }],
  [
    'DNS',
    'Warn: no nameserver in /etc/resolv.conf',
    { nameserver: [] },
    { server: { host: '10.0.0.9', port: 443 } },
  ],
  ['DNS', 'Pass: 10.0.0.53', {}, { server: { host: 'fd00::1', port: 443 } }],
  ['APIServer', 'Fail: api.example.com:6443 is not reachable', { 'api-port': 'closed' }],
  ['APIServer', 'Unknown: not known: whether api.example.com:6443 is reachable', { 'api-port': [] }],
  ['Kubelet', 'Fail: kubelet runs: the host is a Node already', { process: ['containerd', 'kubelet'] }],
  ['Kubelet', 'Fail: k3s-server runs: the host is a Node already', { process: 'k3s-server' }],
  ['Kubelet', 'Warn: left behind: /var/lib/kubelet/pki', { path: '/var/lib/kubelet/pki' }],
  ['ContainerRuntime', 'Warn: containerd runs', { process: 'containerd' }],
  [
    'CNI',
    'Warn: /etc/cni/net.d/10-flannel.conflist, cni0',
    { cni: '10-flannel.conflist', interface: ['cni0', 'eth0'] },
  ],
  ['Agent', 'Fail: an agent was here: /var/lib/kubenode', { path: '/var/lib/kubenode' }],
];

describe('evaluatePreflight', () => {
  it('MAC-13 passes a good host, in at most 40 checks', () => {
    const results = evaluatePreflight(preflightInput());
    expect(results.filter(({ state }) => state !== 'Pass')).toEqual([]);
    expect(results.map(({ check }) => check)).toEqual(CHECK_NAMES);
    expect(results.length).toBeLessThanOrEqual(40);
  });

  it.each<Row>(ROWS)('MAC-13 judges the facts of a host by %s: %s', (check, expected, changes, more) => {
    const result = evaluatePreflight(preflightInput(changes, more)).find((each) => each.check === check);
    expect(`${result?.state}: ${result?.found}`).toBe(expected);
    expect(result?.hint === undefined).toBe(result?.state === 'Pass');
  });

  it('has a row that fails, or warns where nothing can fail, for each check', () => {
    const failing = new Set(
      ROWS.filter(([, expected]) => /^(Fail|Warn)/.test(expected)).map(([check]) => check),
    );
    expect(CHECK_NAMES.filter((check) => !failing.has(check))).toEqual([]);
  });

  it('knows no reachable server without an address', () => {
    const { server: _, ...input } = preflightInput();
    const result = evaluatePreflight(input).find(({ check }) => check === 'APIServer');
    expect(result).toMatchObject({ state: 'Unknown', hint: 'give it with --server' });
  });

  it('leaves out what is skipped', () => {
    const results = evaluatePreflight(preflightInput({ swap: '/swapfile' }), ['Swap']);
    expect(results.map(({ check }) => check)).toEqual(CHECK_NAMES.filter((check) => check !== 'Swap'));
    expect(hasState(results, 'Fail')).toBe(false);
  });
});
