import { Command } from 'commander';
import type { StoredStatus } from '../../../agent/status/publisher.ts';
import type { MachineComponentReport } from '../../../api/generated/types.ts';
import { formatAge } from '../../age.ts';
import { CliError, EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, formatTable, type OutputFormat, printResult, type Table } from '../../output.ts';
import { createDirectoryOption, readAgentStatus } from './directory.ts';

interface StatusFlags {
  readonly directory?: string;
  readonly output: OutputFormat;
}

const STATUS_HELP = `
Reads what the agent last wrote on its host, so it answers without the agent and without the API server. Exits with 1 if
a component is not committed and running, or a difference is not corrected.`;

export function createAgentStatusCommand(io: Io): Command {
  return createReadCommand(
    'status',
    'show the conditions of the machine, each component, and the steps of repair jobs',
  )
    .addHelpText('after', STATUS_HELP)
    .action(async (flags: StatusFlags) => {
      const stored = await readAgentStatus(flags.directory);
      if (flags.output === 'table') io.out(formatAgentStatus(stored, io.clock.now()));
      else printResult(io, flags.output, stored, () => ({ columns: [], rows: [] }));
      if (!isHealthy(stored)) setExitCode(io, EXIT.failed);
    });
}

export function createAgentComponentsCommand(io: Io): Command {
  return createReadCommand('components', 'list the components of the machine').action(
    async (flags: StatusFlags) => {
      const { status } = await readAgentStatus(flags.directory);
      printResult(io, flags.output, status.components, () =>
        componentTable(status.components, io.clock.now()),
      );
    },
  );
}

export function createAgentWhyCommand(io: Io): Command {
  return createReadCommand('why', 'explain the state of one component')
    .argument('<component>', 'name of the component')
    .action(async (name: string, flags: StatusFlags) => {
      const { status } = await readAgentStatus(flags.directory);
      const component = status.components.find((each) => each.name === name);
      if (!component) {
        const known = status.components.map((each) => each.name).join(', ') || 'none';
        throw new CliError(`the machine has no component ${name}`, {
          hint: `known components: ${known}`,
          exitCode: EXIT.badInput,
        });
      }
      const drift = status.drift.filter((each) => each.component === name);
      const why = { component, drift };
      printResult(io, flags.output, why, () => ({
        columns: ['field', 'value'],
        rows: explain(why, io.clock.now()),
      }));
    });
}

function createReadCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(createDirectoryOption())
    .addOption(createOutputOption());
}

/** Conditions with `-` are bad when they are True. */
function isHealthy({ status }: StoredStatus): boolean {
  const conditions = new Map(status.conditions.map((each) => [each.type, each]));
  const drift = conditions.get('DriftDetected');
  const isOpen = drift?.status === 'True' && drift.reason !== 'Corrected';
  return (
    conditions.get('ComponentsReady')?.status === 'True' &&
    conditions.get('UpToDate')?.status === 'True' &&
    !isOpen
  );
}

export function formatAgentStatus({ machine, online, status, jobs = [] }: StoredStatus, now: Date): string {
  const conditions = formatTable({
    columns: ['condition', 'status', 'since', 'reason', 'message'],
    rows: status.conditions.map(({ type, status: value, lastTransitionTime, reason, message }) => [
      type,
      value,
      formatAge(lastTransitionTime, now),
      reason,
      message,
    ]),
    empty: 'no conditions',
  });
  const header = `machine ${machine}, API server ${online ? 'online' : 'away: the last accepted state is enforced'}\n`;
  const repairs = jobs.length > 0 ? `\n${formatTable(jobTable(jobs, now))}` : '';
  return `${header}\n${formatTable(componentTable(status.components, now))}\n${conditions}${repairs}`;
}

function jobTable(jobs: NonNullable<StoredStatus['jobs']>, now: Date): Table {
  return {
    columns: ['job', 'step', 'action', 'try', 'state', 'since', 'because'],
    rows: jobs.map(({ job, step, action, try: attempt, state, at, finishedAt, code, message }) => [
      job,
      step,
      action,
      String(attempt),
      code === undefined ? state : `${state} ${code}`,
      formatAge(finishedAt ?? at, now),
      message ?? '',
    ]),
  };
}

function componentTable(components: readonly MachineComponentReport[], now: Date): Table {
  return {
    columns: ['component', 'state', 'desired', 'current', 'ready', 'since', 'corrections', 'because'],
    rows: components.map((each) => [
      each.name,
      ...versionTexts(each),
      readyText(each),
      formatAge(each.since, now),
      String(each.corrections ?? 0),
      becauseText(each),
    ]),
    empty: 'no components: the Machine declares none, or was not read yet',
  };
}

function versionTexts({ state, desiredRef, currentRef }: MachineComponentReport): readonly string[] {
  return [state ?? 'Unknown', desiredRef ?? '-', currentRef ?? '-'];
}

function becauseText({ waiting, error }: MachineComponentReport): string {
  return waiting?.message ?? error?.message ?? '';
}

function readyText({ running, ready }: MachineComponentReport): string {
  if (running === undefined) return '-';
  if (!running) return 'stopped';
  return ready === undefined ? 'unknown' : ready ? 'yes' : 'no';
}

interface Explanation {
  readonly component: MachineComponentReport;
  readonly drift: StoredStatus['status']['drift'];
}

function explain({ component, drift }: Explanation, now: Date): readonly (readonly string[])[] {
  const { state = 'Unknown', since, waiting, error, deniedDigests = [] } = component;
  return [
    ['state', `${state} since ${formatAge(since, now)}`],
    ['desired', component.desiredRef ?? '-'],
    ['current', component.currentRef ?? '-'],
    ['previous', component.previousRef ?? '-'],
    ['ready', readyText(component)],
    ...(waiting
      ? [['waits', `${waiting.reason}: ${waiting.message} (${formatAge(waiting.since, now)})`]]
      : []),
    ...(error ? [['error', `${error.code}: ${error.message}`]] : []),
    ...deniedDigests.map((digest) => ['denied', digest]),
    ...drift.map(({ kind, path, action, at }) => [
      'drift',
      `${action} ${kind} ${path} ${formatAge(at, now)}`,
    ]),
  ];
}
