/** Reads from the journal why a unit does not run: who had it stopped, or its last log lines. */
import { isRecord } from '../../../kube/objects/json.ts';
import { cleanLogTail } from '../log-tail.ts';
import type { RunCommand } from './commands.ts';
import { unitName } from './unit-files.ts';
import type { UnitProperties } from './unit-properties.ts';

/** The unit is started after this, also on a disk that hardly answers. */
const LIMIT_SECONDS = 2;
const LINES = 3;
const MAX_BYTES = 300;
/** A command ends when the unit has stopped, and sudo logs it before. */
const BEFORE_SECONDS = 120;

/** Reads the evidence of a unit. Undefined where the journal has none, or cannot be read. */
export type UnitEvidenceReader = (name: string, unit: UnitProperties) => Promise<string | undefined>;

/** Asks until it has an answer for this end of the unit. */
export function createUnitEvidenceReader(run: RunCommand): UnitEvidenceReader {
  const known = new Map<string, { readonly end: string; readonly text: string }>();
  return async (name, unit) => {
    const { active, startedAt, endedAt, restarts } = unit;
    const end = [active, startedAt, endedAt, restarts].join(' ');
    const before = known.get(name);
    if (before?.end === end) return before.text;
    // A program that is stopped while it starts may fail.
    const text = (await stoppedBy(run, name, unit)) ?? (await lastLines(run, name, unit));
    if (text !== undefined) known.set(name, { end, text });
    return text;
  };
}

async function lastLines(
  run: RunCommand,
  name: string,
  { startedAt }: UnitProperties,
): Promise<string | undefined> {
  // Not those of an earlier run.
  const since = startedAt === undefined ? [] : [`--since=@${Math.floor(Date.parse(startedAt) / 1000)}`];
  const own = [...since, `_SYSTEMD_UNIT=${unitName(name)}`, `--lines=${LINES}`, '--output=cat'];
  const lines = (await read(run, own)).trim().split('\n').filter(Boolean);
  if (lines.length === 0) return undefined;
  return `its last log lines: ${cleanLogTail(Buffer.from(lines.join(' | ')), MAX_BYTES)}`;
}

async function stoppedBy(
  run: RunCommand,
  name: string,
  { endedAt }: UnitProperties,
): Promise<string | undefined> {
  if (endedAt === undefined) return undefined;
  const endSeconds = Math.ceil(Date.parse(endedAt) / 1000);
  const period = [`--since=@${endSeconds - BEFORE_SECONDS}`, `--until=@${endSeconds + 1}`];
  // Fields with an underscore are those of journald: no other user can write such an entry.
  const terms = [`UNIT=${unitName(name)}`, '_PID=1', '+', '_COMM=sudo', '_UID=0'];
  return describeStop(name, await read(run, [...period, '--output=json', ...terms]));
}

async function read(run: RunCommand, args: readonly string[]): Promise<string> {
  const answer = await run([
    'timeout',
    String(LIMIT_SECONDS),
    'journalctl',
    '--no-pager',
    '--quiet',
    ...args,
  ]);
  return answer.exitCode === 0 ? answer.stdout : '';
}

/** Entries as journalctl prints them with --output=json: those of systemd about the unit, and those of sudo. */
export function describeStop(name: string, entries: string): string | undefined {
  const found = entries.split('\n').flatMap(parseEntry);
  // A start that failed comes after the stop of a restart.
  const job = found.findLast((entry) => entry['JOB_TYPE'] !== undefined);
  if (job?.['JOB_TYPE'] !== 'stop' || job['JOB_RESULT'] !== 'done') return undefined;
  const command = found.flatMap(({ MESSAGE: text }) => sudoCommand(name, text) ?? []).at(-1);
  return command ?? 'somebody had systemd stop it; the journal does not have the name';
}

function parseEntry(line: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) ? [entry] : [];
  } catch {
    return [];
  }
}

/** `alice : TTY=pts/0 ; PWD=/home/alice ; USER=root ; COMMAND=/usr/bin/systemctl stop kubelet` */
const SUDO = /^(?<user>\S+) : (?:.* ; )?COMMAND=(?<command>.*)$/;

/** Words of systemctl and service. A user who only asked for its state has not stopped it. */
const STOPS = ['stop', 'kill', 'mask', 'disable'];

function sudoCommand(name: string, message: unknown): string | undefined {
  const { user, command } = parseSudo(message) ?? {};
  if (user === undefined || command === undefined) return undefined;
  if (!isStopOf(name, command.split(/\s+/))) return undefined;
  return `${user} had it stopped with sudo: ${cleanLogTail(Buffer.from(command), MAX_BYTES)}`;
}

function isStopOf(name: string, [program = '', ...words]: readonly string[]): boolean {
  const isAbout = words.some((word) => word === name || word === unitName(name));
  return isAbout && words.some((word) => STOPS.includes(word)) && /\/(systemctl|service)$/.test(program);
}

function parseSudo(message: unknown): { readonly user?: string; readonly command?: string } | undefined {
  return typeof message === 'string' ? SUDO.exec(message.trim())?.groups : undefined;
}
