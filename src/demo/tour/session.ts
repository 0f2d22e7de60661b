/** Connects the steps with the fleet that runs: its API servers, its processes and its repository. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CliError, EXIT } from '../../cli/errors.ts';
import type { Io } from '../../cli/io.ts';
import { repositoryOf } from '../../cli/local/demo-programs.ts';
import { findPrograms } from '../../cli/local/fleet-programs.ts';
import { machinesFolder } from '../../cli/local/machines-folder.ts';
import { OWN_PROGRAM } from '../../cli/own-program.ts';
import { shellWord } from '../../cli/runnable.ts';
import type { Client } from '../../kube/client/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { findFleetFolder } from '../../local/fleet.ts';
import { createLayout, type Layout } from '../../local/layout.ts';
import { HUB } from '../../local/names.ts';
import { stopProcess } from '../../os/process/child.ts';
import { instanceFolder, listUids } from '../../providers/local/folders.ts';
import { findMarked } from '../../providers/local/processes.ts';
import { STAGES } from './observed.ts';
import { createClusterPlaces } from './places.ts';
import { openDemoRepository, TOUR_AUTHOR } from './repository.ts';
import type { Tour } from './step.ts';
import { resumeMachine, resumeServer, suspendMachine, suspendServer } from './suspend.ts';
import { verifyExpectation, withPatience } from './verify.ts';

export interface TourOptions {
  /** The folder of the fleet. */
  readonly dir: string;
  /** Gets lines for people. */
  readonly print: (line: string) => void;
  /** Multiplies each limit. */
  readonly patience: number;
}

/** Connects a tour with the fleet for as long as `work` runs. */
export async function withTour(
  io: Io,
  { dir, print, patience }: TourOptions,
  work: (tour: Tour) => Promise<void>,
): Promise<void> {
  // Its programs have the paths without symbolic links.
  const layout = (await findFleetFolder(dir)) ?? createLayout(dir);
  const folder = repositoryOf(await findPrograms(layout));
  if (folder === undefined) {
    throw new CliError('no fleet of the demo is running', {
      where: dir,
      hint: 'start it in another terminal with: kubenode start --demo ../kubenode-demo',
      exitCode: EXIT.unavailable,
    });
  }
  const clients = new Map<string, Promise<Client>>();
  const repository = await openDemoRepository(folder);
  const places = createClusterPlaces(layout);
  try {
    await resumeAll(layout);
    await work({
      repository,
      now: () => io.clock.now(),
      client(context) {
        const client = clients.get(context) ?? connect({ clock: io.clock, ...places.connection(context) });
        clients.set(context, client);
        return client;
      },
      selects: (context) => places.selects(context),
      say: print,
      async show(args, exitCodes = [EXIT.ok]) {
        print(`$ kubenode ${args.map(shellWord).join(' ')}`);
        const output = await runKubenode(io, layout, args, exitCodes);
        for (const line of output.trimEnd().split('\n')) print(`  ${line}`);
        return output;
      },
      async verify(usual) {
        const expectation = withPatience(usual, patience);
        const { what, withinSeconds } = expectation;
        // What is known already is not waited for.
        if (withinSeconds > 0) print(`expected within ${withinSeconds} s: ${what}`);
        await verifyExpectation(io, expectation, (reason) => print(`  ${reason}`));
        print(`verified: ${what}`);
      },
      hostFolder: (cluster, uid) => places.machineFolder(cluster, uid).hostFolder,
      machineProcesses: (cluster, uid) => findMarked(places.machineFolder(cluster, uid).path),
      suspend: (cluster, uid) => suspendMachine(places.machineFolder(cluster, uid).path),
      resume: (cluster, uid) => resumeMachine(places.machineFolder(cluster, uid).path),
      suspendServer: (context) => suspendServer(layout, context),
      resumeServer: (context) => resumeServer(layout, context),
      hostedLeftovers: (cluster) => places.leftovers(cluster),
      programs: () => findPrograms(layout),
      kill: (identity) => stopProcess(identity, io.clock, 0),
    });
  } finally {
    for (const client of clients.values()) await client.then((each) => each.close()).catch(() => undefined);
  }
}

/** A tour that was killed may have left machines that stand still, and the API server of the hub. */
async function resumeAll(layout: Layout): Promise<void> {
  await resumeServer(layout, HUB);
  for (const cluster of STAGES) {
    const machines = machinesFolder(layout.root, cluster);
    // oxlint-disable-next-line no-await-in-loop -- each reads all processes
    await Promise.all(
      (await listUids(machines)).map((uid) => resumeMachine(instanceFolder(machines, uid).path)),
    );
  }
}

async function runKubenode(
  { env, signal }: Io,
  { kubeconfig, root }: Layout,
  args: readonly string[],
  exitCodes: readonly number[],
): Promise<string> {
  const child = spawn(process.execPath, [...process.execArgv, OWN_PROGRAM, ...args], {
    env: { ...env, ...TOUR_AUTHOR, KUBECONFIG: kubeconfig },
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== null && exitCodes.includes(code)) return `${output}${errors}`;
  throw new CliError(`kubenode ${args[0]} ended with exit code ${code}, expected ${exitCodes.join(' or ')}`, {
    where: `${output}${errors}`.trim(),
    hint: `run it again: KUBECONFIG=${shellWord(join(kubeconfig))} kubenode ${args.map(shellWord).join(' ')}`,
  });
}
