/** Breaks files and processes of a machine: its agent corrects them, and its provider starts a killed agent again. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import { CliError } from '../../../cli/errors.ts';
import { systemCode } from '../../../os/errors.ts';
import type { ProcessIdentity } from '../../../os/process/identity.ts';
import { readMachines } from '../fleet-state.ts';
import { notReadyReason, restartedReason } from '../observed.ts';
import type { Tour, TourStep } from '../step.ts';

const CLUSTER = 'test';
const GREETING = 'etc/web/greeting';
/** The agent observes every few seconds. */
const CORRECTED_SECONDS = 60;
/** The provider looks for agents that ended every 30 seconds. */
const AGENT_SECONDS = 120;

export const repairStep: TourStep = {
  name: 'repair',
  title: 'What breaks on a machine is corrected',
  explanation: [
    'A daemon is killed, a configuration file edited, a program deleted, and at last the agent itself killed.',
    'The agent corrects the first three from what it installed, and counts that; the provider starts the agent again.',
  ],
  async run(tour) {
    const [first] = await readMachines(tour, CLUSTER);
    if (first === undefined) throw new CliError(`cluster ${CLUSTER} has no machine`);
    const target: Target = { tour, name: first.metadata.name, uid: first.metadata.uid ?? '' };
    await killDaemon(target);
    await editConfig(target);
    await deleteProgram(target);
    await killAgent(target);
    await expectMachine(target, `${target.name} is Ready`, notReadyReason);
    await tour.show(['machine', 'show', target.name, '--context', CLUSTER]);
  },
};

interface Target {
  readonly tour: Tour;
  readonly name: string;
  readonly uid: string;
}

async function killDaemon(target: Target): Promise<void> {
  const daemon = await findProcess(target, 'server.mjs');
  const { restarts = 0 } = componentOf(await readMachine(target), 'web');
  target.tour.say(`$ kill -9 ${daemon.pid}    # the web server of ${target.name}`);
  await target.tour.kill(daemon);
  await expectMachine(target, 'the web server runs again, and the Machine counts its restart', (machine) => {
    const { restarts: now = 0, ready } = componentOf(machine, 'web');
    return now > restarts && ready ? undefined : `restarts: ${now}, ready: ${ready}`;
  });
}

async function editConfig(target: Target): Promise<void> {
  const file = join(target.tour.hostFolder(CLUSTER, target.uid), GREETING);
  const before = await readFile(file, 'utf8');
  target.tour.say(`$ echo broken > ${file}`);
  await expectCorrected(target, { component: 'web', file, content: before }, () =>
    writeFile(file, 'broken\n'),
  );
}

async function deleteProgram(target: Target): Promise<void> {
  const { command } = await findProcess(target, 'kubelet');
  const file = command.find((argument) => basename(argument) === 'kubelet') ?? '';
  const before = await readFile(file, 'utf8');
  target.tour.say(`$ rm ${file}`);
  await expectCorrected(target, { component: 'kubelet', file, content: before }, () => rm(file));
}

async function killAgent(target: Target): Promise<void> {
  const agent = await findProcess(target, 'agent.mjs');
  const since = (await readMachine(target)).status?.agent?.startedAt;
  target.tour.say(`$ kill -9 ${agent.pid}    # the agent of ${target.name}`);
  await target.tour.kill(agent);
  const what = 'the agent was started again, and reports';
  await expectMachine(target, what, (machine) => restartedReason(machine, since), AGENT_SECONDS);
}

interface Correction {
  readonly component: string;
  readonly file: string;
  readonly content: string;
}

async function expectCorrected(
  target: Target,
  { component, file, content }: Correction,
  act: () => Promise<void>,
): Promise<void> {
  const { corrections = 0 } = componentOf(await readMachine(target), component);
  await act();
  const what = `${basename(file)} is as before, and the Machine counts the correction`;
  await expectMachine(target, what, async (machine) => {
    const now = await readFile(file, 'utf8').catch((error: unknown) => systemCode(error));
    if (now !== content) return `${file} differs`;
    const { corrections: count = 0, ready } = componentOf(machine, component);
    return count > corrections && ready ? undefined : `corrections: ${count}, ready: ${ready}`;
  });
}

async function expectMachine(
  target: Target,
  what: string,
  reason: (machine: Machine) => string | undefined | Promise<string | undefined>,
  withinSeconds: number = CORRECTED_SECONDS,
): Promise<void> {
  const { tour, name } = target;
  const lookAt = `kubenode machine show ${name} --context ${CLUSTER}`;
  await tour.verify({ what, withinSeconds, lookAt, reason: async () => reason(await readMachine(target)) });
}

async function readMachine({ tour, name }: Target): Promise<Machine> {
  return await (await tour.client(CLUSTER)).get<Machine>(MACHINES, { name });
}

type ComponentReport = NonNullable<NonNullable<Machine['status']>['components']>[number];

function componentOf({ status }: Machine, component: string): Partial<ComponentReport> {
  return status?.components?.find(({ name }) => name === component) ?? {};
}

/** Finds a process by the name of its program, or of the script that Node runs, which options may precede. */
async function findProcess({ tour, uid, name }: Target, file: string): Promise<ProcessIdentity> {
  const all = await tour.machineProcesses(CLUSTER, uid);
  const found = all.find(({ command: [program = '', ...args] }) => {
    const script = args.find((each) => !each.startsWith('-')) ?? '';
    return [program, script].some((each) => basename(each) === file);
  });
  if (found) return found;
  throw new CliError(`no process of ${name} runs ${file}`, {
    hint: `look at: kubenode machine show ${name} --context ${CLUSTER}`,
  });
}
