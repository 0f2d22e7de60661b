/** One node: a real systemd in its own namespaces, started, restarted and ended by us. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../eventually.ts';
import { makeCgroups, removeCgroups } from './cgroups.ts';
import { type InotifyUse, inotifyShortage, neededInstances, readInotifyUse } from './inotify.ts';
import { KUBELET } from './kubelet.ts';
import { type Output, ProgramError, run } from './shell.ts';

export interface TestNode {
  readonly name: string;
  /** Its address for other nodes and the host. */
  readonly address: string;
  /** Its root file system, as a folder of the host. */
  readonly root: string;
  /** Path of the log of its console. */
  readonly consoleLog: string;
  /** The words with which the host runs a program inside. Their environment is that of the node, and `variables`. */
  command(argv: readonly string[], variables?: readonly string[]): Promise<readonly string[]>;
  /** Runs a program inside; rejects unless it exits with 0. */
  run(program: string, ...args: readonly string[]): Promise<Output>;
  bootId(): Promise<string>;
  /** Runs `systemctl reboot` inside; resolves when the node is up again. */
  reboot(): Promise<void>;
  /** Resolves when the node has another boot id than this one: after a reboot from inside. */
  bootedAgain(bootId: string): Promise<void>;
  /** Cuts the power: no process inside can shut down gracefully. */
  cutPower(): Promise<void>;
  powerOn(): Promise<void>;
}

export interface NodeParts {
  readonly name: string;
  readonly machine: string;
  readonly address: string;
  readonly root: string;
  readonly bridge: string;
  readonly consoleLog: string;
  /** Read-only bind mounts, from a path of the host to one inside. */
  readonly binds: readonly (readonly [outside: string, inside: string])[];
}

export interface RunningNode extends TestNode {
  remove(): Promise<void>;
}

/** Exit code of systemd-nspawn when the node reboots. */
const REBOOT = 133;
const UP_MS = 240_000;
const DOWN_MS = 30_000;

const ENVIRONMENT = [
  'env',
  '-i',
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'LANG=C.UTF-8',
];

export async function startNode(
  parts: NodeParts,
  inotify: () => InotifyUse = readInotifyUse,
): Promise<RunningNode> {
  let cgroups: readonly string[] = [];
  let supervisor: ChildProcess | undefined;
  let poweredOn = false;
  let starting: Promise<void> | undefined;

  const node: RunningNode = {
    name: parts.name,
    address: parts.address,
    root: parts.root,
    consoleLog: parts.consoleLog,
    command,
    run: inside,
    bootId: async () => (await inside('cat', '/proc/sys/kernel/random/boot_id')).stdout.trim(),
    reboot: async () => {
      const before = await node.bootId();
      // The reboot may interrupt this call.
      await inside('systemctl', 'reboot').catch(() => undefined);
      await node.bootedAgain(before);
    },
    bootedAgain: async (before) => {
      const isAgain = async (): Promise<true | undefined> => {
        const now = await node.bootId().catch(() => before);
        return now === before ? undefined : await isUp();
      };
      await eventually(isAgain, `${parts.name} did not boot again`, UP_MS);
    },
    cutPower,
    powerOn,
    remove: async () => {
      await cutPower();
      await removeCgroups(cgroups);
    },
  };
  await powerOn();
  return node;

  async function powerOn(): Promise<void> {
    requireInotify(neededInstances(parts.binds.some((bind) => bind[1] === KUBELET)));
    poweredOn = true;
    await start();
    await eventually(comesUp, `${parts.name} did not come up`, UP_MS).catch(async (error: unknown) => {
      await node.remove();
      throw new Error(`${String(error)}\n${await consoleTail()}`, { cause: error });
    });
  }

  async function cutPower(): Promise<void> {
    poweredOn = false;
    await starting;
    if (!supervisor) return;
    const ended = once(supervisor, 'exit');
    // Its only child is the init of the node: when that ends, every process in its namespace does.
    const leader = await leaderPid().catch(() => undefined);
    if (leader) process.kill(leader, 'SIGKILL');
    else supervisor.kill('SIGKILL');
    await Promise.race([ended, pause(DOWN_MS, undefined, { ref: false })]);
    supervisor?.kill('SIGKILL');
    supervisor = undefined;
    await removeCgroups(cgroups);
  }

  async function start(): Promise<void> {
    await removeCgroups(cgroups);
    cgroups = await makeCgroups(parts.machine);
    const log = openSync(parts.consoleLog, 'a');
    const started = spawn(
      '/bin/sh',
      ['-c', ENTER, 'sh', ...cgroups.map((folder) => `${folder}/cgroup.procs`), '--', ...commandLine(parts)],
      {
        stdio: ['ignore', log, log],
        env: { ...process.env, SYSTEMD_NSPAWN_API_VFS_WRITABLE: 'yes' },
      },
    );
    closeSync(log);
    supervisor = started;
    started.once('exit', (code) => {
      if (supervisor !== started) return;
      supervisor = undefined;
      if (code === REBOOT && poweredOn) starting = start();
    });
    await once(started, 'spawn');
  }

  function requireInotify(needed: number): void {
    const shortage = inotifyShortage(inotify(), needed);
    if (shortage !== undefined) throw new Error(`${parts.name} cannot boot: ${shortage}`);
  }

  /** Rejects as soon as it is known that the node will not come up. */
  async function comesUp(): Promise<true | undefined> {
    if (!supervisor) throw new Error(`${parts.name} did not come up: systemd-nspawn ended`);
    const up = await isUp();
    // Nodes that boot at the same time share what is left.
    if (up === undefined) requireInotify(1);
    return up;
  }

  async function isUp(): Promise<true | undefined> {
    try {
      await inside('systemctl', 'is-system-running', '--wait');
      return true;
    } catch (error) {
      // `degraded` counts as up: some units of the base do not work in a container.
      return error instanceof ProgramError && error.stdout.startsWith('degraded') ? true : undefined;
    }
  }

  async function command(
    argv: readonly string[],
    variables: readonly string[] = [],
  ): Promise<readonly string[]> {
    const leader = String(await leaderPid());
    return [
      'nsenter',
      '-t',
      leader,
      '-m',
      '-u',
      '-i',
      '-n',
      '-p',
      '-C',
      ...ENVIRONMENT,
      ...variables,
      ...argv,
    ];
  }

  async function inside(program: string, ...args: readonly string[]): Promise<Output> {
    const [enter = '', ...words] = await command([program, ...args]);
    return await run(enter, words, UP_MS);
  }

  async function leaderPid(): Promise<number> {
    const pid = supervisor?.pid;
    if (pid === undefined) throw new Error(`${parts.name} is not running`);
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const [leader] = children.split(' ').filter(Boolean).map(Number);
    if (leader === undefined) throw new Error(`${parts.name} has no init yet`);
    return leader;
  }

  async function consoleTail(): Promise<string> {
    return (await readFile(parts.consoleLog, 'utf8').catch(() => '')).slice(-2000);
  }
}

// Enters the cgroups before exec of systemd-nspawn, so that no process of the node was ever outside of them.
const ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 1; shift; done; shift; exec "$@"';

function commandLine({ root, machine, name, bridge, binds }: NodeParts): readonly string[] {
  return [
    'systemd-nspawn',
    `--directory=${root}`,
    '--boot',
    '--settings=no',
    '--register=no',
    '--keep-unit',
    '--link-journal=no',
    '--resolv-conf=off',
    '--timezone=off',
    `--machine=${machine}`,
    `--hostname=${name}`,
    `--network-bridge=${bridge}`,
    '--capability=all',
    '--bind=/dev/kmsg',
    '--rlimit=RLIMIT_NOFILE=1048576',
    '--system-call-filter=@keyring bpf',
    ...binds.map(([outside, inside]) => `--bind-ro=${outside}:${inside}`),
  ];
}
