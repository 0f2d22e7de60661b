/** `kubenode tour`: does real things to the fleet of the demo, and verifies on its API servers what follows. */
import { createInterface } from 'node:readline/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { provenEverywhere } from '../../demo/tour/fleet-state.ts';
import { type Answer, runSteps, type TourStepResult } from '../../demo/tour/runner.ts';
import { withTour } from '../../demo/tour/session.ts';
import type { Tour, TourStep } from '../../demo/tour/step.ts';
import { TOUR_STEPS } from '../../demo/tour/steps.ts';
import { formatTable } from '../../views/text/table.ts';
import { CliError, EXIT } from '../errors.ts';
import { setExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import { addDirOption } from '../local/dir-option.ts';
import { createIntegerParser } from '../option-parsers.ts';

const HELP = `
Needs a fleet that runs: "kubenode start --demo FOLDER" in another terminal. Each step does a real thing to it (a commit, a killed process, a
deleted program), shows the objects, and verifies the outcome on the API servers within a time limit. Before each step it waits for Enter;
s skips the step, q leaves. It commits only to the repository of the demo, touches only processes of this fleet, and may run any number
of times. The first step that is not verified ends it.

Exit codes: 0 every step that ran was verified (with --yes: every step), 1 one was not, 69 no fleet of the demo is running.

Examples:
  kubenode tour
  kubenode tour --yes
  kubenode tour --yes --patience 3
  kubenode tour --yes --step kernel-hang
  kubenode tour --yes --step bad-rule --step rollout`;

interface TourFlags {
  readonly dir: string;
  readonly yes?: true;
  readonly list?: true;
  readonly step?: readonly string[];
  readonly patience: number;
  readonly output: 'table' | 'json';
}

const MOST_PATIENCE = 10;

export function createTourCommand(io: Io): Command {
  return addDirOption(io, new Command('tour'))
    .description('try the fleet of the demo: rollouts, repairs and failures, each verified')
    .option('-y, --yes', 'do not wait for Enter before each step')
    .option('--step <step>', 'only this step; repeat it for more, which run in that order', addStep)
    .option(
      '--patience <factor>',
      `multiply each time limit, on a slow or busy machine: 1 to ${MOST_PATIENCE}`,
      createIntegerParser(1, MOST_PATIENCE),
      1,
    )
    .option('--list', 'list the steps')
    .addOption(
      new Option('-o, --output <format>', 'output format; json: a line for each step')
        .choices(['table', 'json'])
        .default('table'),
    )
    .addHelpText('after', HELP)
    .action((flags: TourFlags) => (flags.list ? listSteps(io, flags) : runTour(io, flags)));
}

function listSteps(io: Io, { output }: TourFlags): void {
  const steps = TOUR_STEPS.map(({ name, title }) => ({ name, title }));
  const rows = steps.map(({ name, title }) => [name, title]);
  const table = formatTable({ columns: ['step', 'title'], rows });
  io.out(output === 'json' ? steps.map((step) => `${JSON.stringify(step)}\n`).join('') : table);
}

async function runTour(io: Io, { dir, yes, step, patience, output }: TourFlags): Promise<void> {
  if (!yes && !process.stdin.isTTY) {
    throw new CliError('the tour waits for Enter before each step, and there is no terminal', {
      hint: 'run all steps with: kubenode tour --yes',
      exitCode: EXIT.usage,
    });
  }
  const steps = step?.map(stepNamed) ?? TOUR_STEPS;
  const isJson = output === 'json';
  const print = (line: string): void => (isJson ? undefined : io.out(`${line}\n`));
  await withTour(io, { dir, print, patience }, async (tour) => {
    const ask = yes ? (): Promise<Answer> => Promise.resolve('Run') : (): Promise<Answer> => askPerson(io);
    const onResult = (result: TourStepResult): void =>
      isJson ? io.out(`${JSON.stringify(result)}\n`) : print(formatStepResult(result));
    const results = await runSteps(io, steps, { tour, ask, settle, onResult });
    print(`\n${formatTotal(results)}`);
    if (!isSuccess(results, yes === true)) setExitCode(io, EXIT.failed);
  });
}

function addStep(name: string, earlier: readonly string[] = []): readonly string[] {
  stepNamed(name);
  return [...earlier, name];
}

function stepNamed(wanted: string): TourStep {
  const found = TOUR_STEPS.find(({ name }) => name === wanted);
  if (found) return found;
  throw new InvalidArgumentError(`The steps are ${TOUR_STEPS.map(({ name }) => name).join(', ')}.`);
}

async function settle(tour: Tour): Promise<void> {
  await tour.verify(provenEverywhere(tour, await tour.repository.head()));
}

/** A person may skip steps and leave. */
export function isSuccess(results: readonly TourStepResult[], isEach: boolean): boolean {
  return results.every(({ state }) => (isEach ? state === 'Verified' : state !== 'Failed'));
}

export function formatStepResult({ name, state, seconds, message }: TourStepResult): string {
  if (state === 'Verified') return `${name}: every outcome was verified, in ${seconds} s`;
  if (state === 'Failed') return `${name}: failed after ${seconds} s\n${message}`;
  return `${name}: ${state === 'Skipped' ? 'skipped' : 'not run'}`;
}

export function formatTotal(results: readonly TourStepResult[]): string {
  const verified = results.filter(({ state }) => state === 'Verified').length;
  const total = results.reduce((sum, { seconds }) => sum + seconds, 0);
  const time = [...(total >= 60 ? [`${Math.floor(total / 60)} min`] : []), `${total % 60} s`].join(' ');
  return `${verified} of ${results.length} steps verified, in ${time}`;
}

async function askPerson({ signal }: Io): Promise<Answer> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return parseAnswer(await terminal.question('Enter runs this step, s skips it, q leaves: ', { signal }));
  } catch (error) {
    if (signal.aborted) throw error;
    // Ctrl-C and Ctrl-D at the question.
    return 'Leave';
  } finally {
    terminal.close();
  }
}

export function parseAnswer(text: string): Answer {
  const word = text.trim().toLowerCase();
  if (word === 'q') return 'Leave';
  return word === 's' ? 'Skip' : 'Run';
}
