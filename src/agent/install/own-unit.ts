/**
 * The systemd unit of the agent. The agent places files anywhere on the host and manages units, so the file system stays
 * writable; everything that it does not need is taken from it. Pure.
 */
import type { UnitDefinition } from '../host/port.ts';
import { AGENT_COMPONENT, AGENT_PROGRAM_LINK } from '../layout.ts';
import { WATCHDOG_UNIT } from '../upgrade/watchdog-unit.ts';

export interface AgentUnitOptions {
  readonly machine: string;
  /** Node.js on the host. Without it the program needs none: it is one executable with Node.js inside. */
  readonly node?: string;
  /** The program on the host, until another version of the agent replaces it. */
  readonly program: string;
  readonly bootstrap?: string;
  readonly port: number;
}

/**
 * For little memory (bench/agent.ts): a small young generation, and no compiled code, which takes 20 MiB and which an agent that
 * mostly waits does not need. Hashes, compression and TLS are not JavaScript. The limit of the heap is a fuse.
 */
export const NODE_FLAGS: readonly string[] = [
  '--max-old-space-size=96',
  '--max-semi-space-size=2',
  '--optimize-for-size',
  '--max-lazy',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
];

export function formatAgentUnit(options: AgentUnitOptions): string {
  return `${[UNIT, service(options), LIMITS, HARDENING, INSTALL].join('\n\n')}\n`;
}

const UNIT = `[Unit]
Description=kubenode agent: keeps the components of this machine installed, configured and running
# No dependency on the network: without the API server the agent enforces the last accepted state.
After=local-fs.target
# At a shutdown the watchdog of an upgrade ends first: to it, an agent that the shutdown ended has crashed.
Before=${WATCHDOG_UNIT}.service
# It is started again for as long as the machine runs.
StartLimitIntervalSec=0`;

function service({ machine, node, program, bootstrap, port }: AgentUnitOptions): string {
  const flags = ['--machine', machine, '--host', 'systemd', '--port', String(port)];
  const joining = bootstrap === undefined ? [] : ['--bootstrap', bootstrap];
  const runtime = node === undefined ? [] : [node, ...NODE_FLAGS];
  const words = [...runtime, AGENT_PROGRAM_LINK, 'run', ...flags, ...joining];
  const directory = AGENT_PROGRAM_LINK.slice(0, AGENT_PROGRAM_LINK.lastIndexOf('/'));
  const link = ['/bin/sh', '-c', LINK_PROGRAM, 'sh', AGENT_PROGRAM_LINK, directory, program];
  return `[Service]
Type=exec
# The link names the version that runs. An upgrade of the agent changes it, and nothing in this unit.
ExecStartPre=${link.map(quoteWord).join(' ')}
ExecStart=${words.map(quoteWord).join(' ')}
Restart=always
RestartSec=5
# One reconcile may be in a download: the journal makes every end safe.
TimeoutStopSec=30
# Units of components are started by systemd, in control groups of their own: they survive a stop and an upgrade of the agent.
KillMode=control-group`;
}

/** Without a link, or with one to a program that was removed, the agent that the host joined with runs. */
const LINK_PROGRAM = '[ -e "$1" ] || { mkdir -p "$2" && ln -sfn "$3" "$1"; }';

/** Puts a word in double quotes where it needs them; % and $ are special to systemd. */
function quoteWord(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  if (/^[\w./:=@%$,+-]+$/.test(escaped)) return escaped;
  return `"${escaped.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`)}"`;
}

const LIMITS = `# The agent shares the machine with the work that pays for it.
MemoryHigh=128M
MemoryMax=256M
TasksMax=256
CPUWeight=50
# A node without memory needs its agent more than any pod.
OOMScoreAdjust=-900`;

const HARDENING = `# What the agent may do: read and write files of all owners (components have owners), look at the programs of all processes
# (is the running program the installed one?), end the processes of its probes, and read the kernel log for diagnostics.
CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_KILL CAP_SYS_PTRACE CAP_SYSLOG
AmbientCapabilities=
# systemd starts, stops and reboots on its behalf, over D-Bus, where these limits do not apply.
NoNewPrivileges=yes

# Not set: ProtectSystem, ProtectHome, PrivateTmp and ReadOnlyPaths. A component may place files at any path, artifacts may be
# in any directory (file://), and CleanDisk removes old files of /tmp.
# Not set: PrivateNetwork. The agent talks to its API server, downloads artifacts, and probes ports of this machine.
# Not set: ProtectKernelLogs. Diagnostics read /dev/kmsg.
# Not set: PrivateDevices and DevicePolicy. Probes of drivers open devices.
# Not set: MemoryDenyWriteExecute. The compiler of Node.js writes machine code.
# Not set: PrivateUsers. Owners of files must be those of the machine.
# Not set: ProtectProc and ProcSubset. The agent compares running programs with installed ones.

# sysctls and kernel modules are files and OneShot units, which systemd runs: the agent itself changes none.
ProtectKernelTunables=yes
ProtectControlGroups=yes
ProtectHostname=yes
# The agent makes no setuid files: modes of components have no such bits.
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictRealtime=yes
LockPersonality=yes
KeyringMode=private
RemoveIPC=no
# AF_NETLINK is how a program lists the addresses of the machine.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
# Changing the clock, mounting, loading modules, raw devices and rebooting are not for the agent.
SystemCallFilter=@system-service
SystemCallFilter=~@clock @cpu-emulation @debug @module @mount @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
UMask=0022`;

const INSTALL = `[Install]
WantedBy=multi-user.target`;

/** The name of the unit of the agent on a host with systemd. */
export const OWN_UNIT = 'kubenode-agent';

/** Returns the unit of the agent as a unit of the host, which brings back what was under its name when it is removed. */
export function ownUnit(options: AgentUnitOptions): UnitDefinition {
  return {
    name: OWN_UNIT,
    component: AGENT_COMPONENT,
    type: 'Service',
    enabled: true,
    running: true,
    timeoutSeconds: 300,
    raw: formatAgentUnit(options),
    restart: { policy: 'Always', delaySeconds: 5, maxPerMinute: 12 },
    stop: { signal: 'TERM', timeoutSeconds: 30 },
    existing: false,
    dropIns: [],
  };
}
