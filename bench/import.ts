/** Imports of hosts over SSH: the checks of one host, the copy of a program of full size, and 200 hosts at once through 8 real sshd. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runConcurrently } from '../src/kube/process/run-concurrently.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { openImportHosts } from '../src/providers/ssh/import/open.ts';
import { formatTarget } from '../src/providers/ssh/target.ts';
import { makeStandIn } from '../test/providers/ssh/import/stand-in.ts';
import { makeUserKey, type SshServer, startSshServer, type UserKey } from '../test/providers/ssh/sshd.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { type ControllerImports, measureControllerImports } from './import/controllers.ts';

const HOSTS = Number(process.env['KUBENODE_BENCH_HOSTS'] ?? 200);
const SERVERS = 8;
/** The controllers connect to as many hosts at once. */
const AT_A_TIME = 50;
const MIB = 1024 ** 2;
/** The size of the compressed program of the agent, for one host; for many, the copy would measure the disk of this machine. */
const PROGRAM_BYTES = 35 * MIB;
const SMALL_BYTES = MIB;
/** More than the window of a channel has room for: what the controllers keep in memory for a host does not depend on the rest. */
const CONTROLLERS_BYTES = 8 * MIB;
const CHECKS = 10;
const CLI = new URL('../bin/kubenode.js', import.meta.url).pathname;

export const bench: Bench = {
  name: 'import',
  what: 'the preflight of a host by kubenode import --dry-run; the installation of a program of 35 MiB, against a plain ssh that only sends it; the installation and request of 200 hosts through 8 real sshd, with a stand-in for the agent program; 200 Machines by kubenode controllers on a real API server until they are Ready, eight with a real sshd and the others behind SSH servers of the library, with simulated agents and a stand-in for the kubelets',
  run,
};

async function run(): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'kubenode-bench-import-'));
  const key = makeUserKey(folder, 'user');
  const servers: SshServer[] = [];
  try {
    for (let index = 0; index < SERVERS; index += 1) {
      servers.push(await startSshServer(join(folder, `server-${index}`), { authorized: [key.publicKey] }));
    }
    const [first] = servers;
    if (!first) throw new Error('no sshd was started');
    const dryRuns = Array.from({ length: CHECKS }, () => timeDryRun(first, key));
    const one = await importOne(first, { key, folder });
    const many = await importMany(servers, { key, folder });
    const { folder: programs } = makeStandIn(join(folder, 'controllers'), { padding: CONTROLLERS_BYTES });
    const controlled = await measureControllerImports({ key, programs, folder, count: HOSTS, sshd: SERVERS });
    return resultOf({ dryRunP95Ms: percentile(dryRuns, 0.95), ...one, ...many, ...controlled });
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    rmSync(folder, { recursive: true, force: true });
  }
}

type Measured = Record<'dryRunP95Ms' | 'installMs' | 'plainSendMs' | 'allMs' | 'hostP95Ms', number> &
  ControllerImports;

function resultOf({ plainSendMs, ...measured }: Measured): BenchResult {
  const { dryRunP95Ms, installMs, allMs, singleP95Ms, fleetMs, besideHangingMs, controllersPeakMiB } =
    measured;
  return {
    measured,
    baseline: { plainSendMs },
    ratios: {
      installOverPlainSend: installMs / plainSendMs,
      besideHangingOverFleet: besideHangingMs / fleetMs,
    },
    gates: [
      { what: 'ms for kubenode import --dry-run of one host (p95)', value: dryRunP95Ms, atMost: 5000 },
      { what: `ms until ${HOSTS} hosts are installed and have a request`, value: allMs, atMost: 300_000 },
      { what: 'ms from a Machine to Ready for one host (p95)', value: singleP95Ms, atMost: 90_000 },
      { what: `ms until ${HOSTS} Machines are Ready`, value: fleetMs, atMost: 300_000 },
      {
        what: `ms until the others are, while one host in twenty hangs`,
        value: besideHangingMs,
        atMost: 300_000,
      },
      { what: 'MiB of the controllers at their peak', value: controllersPeakMiB, atMost: 250 },
    ],
    setting: { hosts: HOSTS, servers: SERVERS, atATime: AT_A_TIME, programMiB: PROGRAM_BYTES / MIB },
  };
}

function timeDryRun({ target }: SshServer, { file }: UserKey): number {
  const began = performance.now();
  const args = [CLI, 'import', formatTarget(target), '--identity', file, '--dry-run', '-o', 'json'];
  try {
    execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    // This machine fails some checks of a node.
    if ((error as { status?: number }).status !== 3) throw error;
  }
  return performance.now() - began;
}

interface Parts {
  readonly key: UserKey;
  readonly folder: string;
}

async function importOne(
  server: SshServer,
  { key, folder }: Parts,
): Promise<Pick<Measured, 'installMs' | 'plainSendMs'>> {
  const { folder: programs, compressedFile } = makeStandIn(join(folder, 'full'), { padding: PROGRAM_BYTES });
  const began = performance.now();
  await importHost(server, { key, programs, root: join(folder, 'one') });
  const installMs = performance.now() - began;
  const { address, port, user } = server.target;
  const options = [
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'LogLevel=ERROR',
  ];
  const args = [...options, '-i', key.file, '-p', String(port), `${user}@${address}`, 'cat > /dev/null'];
  const plain = performance.now();
  execFileSync('ssh', args, { input: readFileSync(compressedFile) });
  return { installMs, plainSendMs: performance.now() - plain };
}

async function importMany(
  servers: readonly SshServer[],
  { key, folder }: Parts,
): Promise<Pick<Measured, 'allMs' | 'hostP95Ms'>> {
  const { folder: programs } = makeStandIn(join(folder, 'small'), { padding: SMALL_BYTES });
  const hosts = Array.from({ length: HOSTS }, (_, index) => index);
  const began = performance.now();
  const times = await runConcurrently(hosts, importOneOfMany, AT_A_TIME);
  const allMs = performance.now() - began;
  return { allMs, hostP95Ms: percentile(times, 0.95) };

  /** Returns how long it took. */
  async function importOneOfMany(index: number): Promise<number> {
    const server = servers[index % servers.length];
    if (!server) throw new Error('no sshd was started');
    const start = performance.now();
    await importHost(server, { key, programs, root: join(folder, `host-${index}`) });
    return performance.now() - start;
  }
}

interface HostImport {
  readonly key: UserKey;
  readonly programs: string;
  readonly root: string;
}

async function importHost(
  { target, hostKeys }: SshServer,
  { key, programs, root }: HostImport,
): Promise<void> {
  mkdirSync(root);
  // Fifty handshakes at once share the CPUs of this machine with eight servers.
  const limits = { connectMs: 120_000 };
  const hosts = openImportHosts({ programs, clock: createSystemClock(), root, limits });
  const rest = { hostKeyPolicy: 'Pinned', existingNode: 'Reject', dryRun: false, skipChecks: [] } as const;
  const host = await hosts.connect(
    {
      machine: 'n1',
      machineUid: root,
      spec: { ...target, ...rest, hostKeys, credentialsRef: { name: 'ssh', key: 'ssh-privatekey' } },
      secret: { privateKey: key.privateKey },
    },
    new AbortController().signal,
  );
  try {
    await host.inspect(undefined);
    await host.install();
    await host.request();
  } finally {
    host.close();
  }
}
