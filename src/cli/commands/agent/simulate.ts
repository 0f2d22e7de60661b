/** Runs `kubenode agent simulate`: many agents in one process, for a local cluster. */
import { Command } from 'commander';
import { createJsonLog } from '../../../agent/log.ts';
import { connectSimulated } from '../../../agent/simulate/connect.ts';
import { runSimulated, type SimulatedAgentsOptions, simulateFleet } from '../../../agent/simulate/fleet.ts';
import type { AgentStatus } from '../../../agent/status/report.ts';
import { MACHINES } from '../../../api/generated/resources.ts';
import { agentUser, MANAGER_CLI } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { connect } from '../../../kube/client/connect.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Log } from '../../../kube/process/log.ts';
import { type ClusterIssuer, openClusterIssuer } from '../../../local/pki/access.ts';
import { createPrincipal } from '../../../local/pki/principal.ts';
import { readLocalFleet } from '../../../local/status.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { runSimulatedInstances } from '../../../providers/local/simulated.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { addDirOption } from '../../local/dir-option.ts';
import { withLocalErrors } from '../../local/errors.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { KUBENODE_VERSION } from '../../version.ts';

const HELP = `
Runs the real agent for many machines of a local cluster in one process: the real loop, watches, heartbeats and reports, each with its own
certificate and connection, on a host in memory. Nothing is downloaded or started: artifacts have the checksum that is expected of
them, and archives are empty. Machines that do not exist are created. A line each ten seconds counts what the agents did.

  kubenode local up
  kubenode agent simulate --machines 2000`;

interface SimulateFlags {
  readonly machines?: number;
  readonly instances?: string;
  readonly prefix: string;
  readonly cluster: string;
  readonly dir: string;
}

const STARTS_PER_SECOND = 50;
const REPORT_MS = 10_000;

export function createAgentSimulateCommand(io: Io): Command {
  const command = new Command('simulate')
    .description('run the agents of many machines of a local cluster in memory')
    .option('--machines <n>', 'number of machines', createIntegerParser(1, 20_000))
    .option(
      '--instances <folder>',
      'run those of the simulated instances in this folder, as they come and go',
    )
    .option('--prefix <text>', 'beginning of their names', 'sim-')
    .option('--cluster <name>', 'the local cluster', 'hub')
    .addHelpText('after', HELP);
  return addDirOption(io, command).action((flags: SimulateFlags) =>
    withLocalErrors(() => simulate(io, flags)),
  );
}

async function simulate(io: Io, flags: SimulateFlags): Promise<void> {
  const { machines, instances, prefix, cluster, dir } = flags;
  if ((machines === undefined) === (instances === undefined)) {
    throw new CliError('expected --machines or --instances', { exitCode: EXIT.usage });
  }
  const found = await readLocalFleet(dir);
  const state = found?.state.clusters.find(({ name }) => name === cluster);
  if (!found || !state) {
    throw new CliError(`local cluster ${cluster} not found`, {
      where: dir,
      hint: 'start it with: kubenode local up; or name another one with --cluster',
      exitCode: EXIT.badInput,
    });
  }
  const issuer = await openClusterIssuer(state, found.layout);
  const counts = createCounts();
  const agents = agentsOf(io, issuer, counts);
  if (instances !== undefined) return await simulateInstances(io, instances, agents);
  const names = Array.from({ length: machines ?? 0 }, (_, index) => `${prefix}${index + 1}`);
  const { kubeconfig } = found.layout.cluster(cluster);
  const admin = await connect({ kubeconfig, clock: io.clock });
  try {
    await createMachines(admin, names, io.signal);
  } finally {
    await admin.close();
  }
  const reporting = reportEach(io, () => counts.take(names.length));
  await simulateFleet({ ...agents, machines: names, startsPerSecond: STARTS_PER_SECOND }, io.signal);
  await reporting;
}

async function simulateInstances(io: Io, machines: string, agents: SimulatedAgentsOptions): Promise<void> {
  const { clock, signal } = io;
  const run = (machine: string, stop: AbortSignal): Promise<void> => runSimulated(machine, agents, stop);
  await runSimulatedInstances({ machines, clock, run }, signal);
}

function agentsOf(io: Io, issuer: ClusterIssuer, counts: SimulationCounts): SimulatedAgentsOptions {
  const { clock } = io;
  return {
    connect(machine) {
      const { certPem, keyPem } = issuer.issue(createPrincipal(agentUser(machine)), clock.now());
      const pem = { ca: issuer.caPem, cert: certPem, key: keyPem };
      return connectSimulated({ ...pem, server: issuer.server, clock, onCall: counts.called });
    },
    version: KUBENODE_VERSION,
    clock,
    log: onlyProblems(createJsonLog({ write: (line) => io.out(line), clock })),
    random: systemRandom,
    onReconciled: counts.reconciled,
  };
}

async function createMachines(client: Client, names: readonly string[], signal: AbortSignal): Promise<void> {
  for (const name of names) {
    if (signal.aborted) return;
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Machine',
      metadata: { name },
      spec: { infra: { provider: 'local' }, host: { type: 'sandbox' } },
    };
    await client.create(MACHINES, object, { fieldManager: MANAGER_CLI }).catch((error: unknown) => {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
    });
  }
}

interface SimulationCounts {
  readonly called: () => void;
  readonly reconciled: (machine: string, status: AgentStatus) => void;
  /** Returns a text about what happened since the last call. */
  take(machines: number): string;
}

function createCounts(): SimulationCounts {
  const ready = new Map<string, boolean>();
  let calls = 0;
  return {
    called() {
      calls += 1;
    },
    reconciled(machine, { conditions }) {
      const condition = conditions.find(({ type }) => type === 'ComponentsReady');
      ready.set(machine, condition?.status === 'True');
    },
    take(machines) {
      const healthy = [...ready.values()].filter(Boolean).length;
      const rate = calls / (REPORT_MS / 1000);
      calls = 0;
      return `${ready.size} of ${machines} agents run, ${healthy} with ready components, ${rate} requests/s`;
    },
  };
}

async function reportEach(io: Io, text: () => string): Promise<void> {
  const { clock, signal } = io;
  while (!signal.aborted) {
    await clock.sleep(REPORT_MS, signal).catch(() => undefined);
    if (!signal.aborted) io.err(`${text()}\n`);
  }
}

const nothing = (): void => undefined;

/** Returns a log that drops debug and info: people do not read what each of thousands of agents does. */
function onlyProblems(log: Log): Log {
  return { ...log, debug: nothing, info: nothing, with: (fields) => onlyProblems(log.with(fields)) };
}
