/** Reads one line of a recording. What comes from a file is checked here; inside it is trusted. Pure. */
import { isRecord, type JsonRecord, textAt, valueAt } from '../../kube/objects/json.ts';
import { FACT_VIEW_NAMES, FACT_VIEWS, LEASE_VIEWS, OBJECT_VIEWS, type ObjectView } from '../views.ts';
import { RECORDING_FORMAT, RECORDING_VERSION, type RecordedLine } from './format.ts';

export interface ParsedLine {
  readonly line: RecordedLine;
  readonly atMs: number;
}

/** Describes for people what is expected of a line that is invalid. */
export interface LineProblem {
  readonly problem: string;
}

export function parseRecordedLine(text: string): ParsedLine | LineProblem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'expected JSON' };
  }
  if (!isRecord(value)) return { problem: 'expected a JSON object' };
  const atMs = timeAt(value, 'at');
  if (atMs === undefined) return { problem: 'expected a time in field at' };
  const type = textAt(value, 'type') ?? '';
  const check = CHECKS.get(type);
  if (!check) return { problem: `expected one of ${[...CHECKS.keys()].join(', ')} in field type` };
  const problem = check(value);
  // Every field that is read was checked.
  return problem === undefined ? { line: value as unknown as RecordedLine, atMs } : { problem };
}

type Check = (line: JsonRecord) => string | undefined;

const CHECKS: ReadonlyMap<string, Check> = new Map<RecordedLine['type'], Check>([
  ['Started', startedProblem],
  ['Put', (line) => viewProblem(line, OBJECT_VIEWS) ?? objectProblem(line)],
  ['Delete', (line) => viewProblem(line, OBJECT_VIEWS) ?? nameProblem(line, 'name')],
  ['Heartbeat', (line) => nameProblem(line, 'node') ?? timesProblem(line)],
  [
    'Lease',
    (line) =>
      viewProblem(line, LEASE_VIEWS) ?? nameProblem(line, 'name') ?? sinceProblem(line, 'silentSince'),
  ],
  ['Synced', () => undefined],
  ['Contact', (line) => viewProblem(line, FACT_VIEW_NAMES) ?? sinceProblem(line, 'lostSince')],
  ['Tick', () => undefined],
]);

function startedProblem(line: JsonRecord): string | undefined {
  const { format, version } = line;
  if (format !== RECORDING_FORMAT) {
    return `expected format ${RECORDING_FORMAT}, got ${JSON.stringify(format)}`;
  }
  if (version !== RECORDING_VERSION) {
    return `expected version ${RECORDING_VERSION} of the format, got ${JSON.stringify(version)}`;
  }
  return textAt(line, 'cluster', 'uid') ? undefined : 'expected the UID of the cluster in field cluster.uid';
}

function viewProblem({ view }: JsonRecord, views: readonly string[]): string | undefined {
  const isKnown = typeof view === 'string' && views.includes(view);
  return isKnown ? undefined : `expected one of ${views.join(', ')} in field view`;
}

function objectProblem(line: JsonRecord): string | undefined {
  const view = OBJECT_VIEWS.find((name) => name === line['view']);
  const paths = [['metadata', 'name'], ...(view ? requiredOf(view) : [])];
  const missing = paths.find((path) => valueAt(line, 'object', ...path) === undefined);
  if (missing) return `expected an object with ${missing.join('.')} in field object`;
  return nameProblem(valueAt(line, 'object', 'metadata') as JsonRecord, 'name');
}

function requiredOf(view: ObjectView): readonly (readonly string[])[] {
  const { recorded } = FACT_VIEWS[view];
  return (recorded !== 'Lease' && recorded.required) || [];
}

function nameProblem(line: JsonRecord, field: string): string | undefined {
  return textAt(line, field) ? undefined : `expected a name in field ${field}`;
}

function timesProblem({ times }: JsonRecord): string | undefined {
  const isValid = isRecord(times) && Object.values(times).every((time) => typeof time === 'string');
  return isValid ? undefined : 'expected times by type of condition in field times';
}

function sinceProblem(line: JsonRecord, field: string): string | undefined {
  const isValid = line[field] === undefined || timeAt(line, field) !== undefined;
  return isValid ? undefined : `expected a time in field ${field}`;
}

function timeAt(line: JsonRecord, field: string): number | undefined {
  const time = Date.parse(textAt(line, field) ?? '');
  return Number.isNaN(time) ? undefined : time;
}
