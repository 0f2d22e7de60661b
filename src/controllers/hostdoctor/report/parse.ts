/** Reads what a hardware system reports of one event: the fields of a MaintenanceEvent without its provider. Pure. */
import { MAINTENANCE_EVENTS } from '../../../api/generated/resources.ts';
import type { MaintenanceEvent } from '../../../api/generated/types.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import { validate } from '../../../api/validation/validate.ts';
import { API_VERSION } from '../../../api/version.ts';
import { isRecord, type JsonRecord } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { wholeSeconds } from '../../../os/dates.ts';

/** A report without its provider, which is that of the Machine. */
export type MaintenanceReport = Omit<MaintenanceEvent['spec'], 'provider'>;

export type ReadReport = { readonly report: MaintenanceReport } | { readonly problem: string };

/** A report of all fields at their longest is smaller; a larger one is refused before it is read. */
export const MAX_REPORT_BYTES = 65_536;
/** The problems that are named: a sender corrects one report, not fifty lines. */
const MAX_PROBLEMS = 5;
const PROVIDER = 'the provider is that of the Machine: remove the field provider';
const ANY_PROVIDER = 'local';

export function readReport(text: string): ReadReport {
  const value = parseJson(text);
  if (!isRecord(value)) return { problem: 'expected a JSON object with the fields of one event' };
  if (Object.hasOwn(value, 'provider')) return { problem: PROVIDER };
  const problems = problemsOf(value);
  if (problems.length > 0) return { problem: problems.slice(0, MAX_PROBLEMS).join('; ') };
  return { report: withWholeSeconds({ hint: false, ...value } as unknown as MaintenanceReport) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the problems by the schema of the kind, with the paths of the report. */
function problemsOf(report: JsonRecord): readonly string[] {
  const spec = { hint: false, ...report, provider: ANY_PROVIDER };
  const { kind } = MAINTENANCE_EVENTS;
  const problems = validate({ apiVersion: API_VERSION, kind, metadata: { name: 'report' }, spec } as object);
  return problems.map(({ path, message }) => `${path.replace(/^spec\.?/, '') || 'report'}: ${message}`);
}

/** The same moment in another notation is the same report. */
function withWholeSeconds({ notBefore, deadline, ...rest }: MaintenanceReport): MaintenanceReport {
  const [begin, end] = [parseTime(notBefore), parseTime(deadline)];
  return {
    ...rest,
    ...optional('notBefore', begin && wholeSeconds(begin)),
    ...optional('deadline', end && wholeSeconds(end)),
  };
}
