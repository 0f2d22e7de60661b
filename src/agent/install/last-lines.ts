/** Adds what a version that failed printed last to its failure, so that a person need not search for it on the host. */
import { printableLine } from '../../kube/objects/printable.ts';
import type { HostUnits } from '../host/port.ts';
import type { ComponentRecord, Transition, TransitionFailure } from '../journal/record.ts';
import type { Target } from '../target/target.ts';

/** The maximum size of the lines: with the reason itself, this is what the status shows of an error. */
const MAX_BYTES = 700;

/** Adds the last lines to a record, once: where a transition turns back, or ends because it cannot. */
export async function withLastLines(
  record: ComponentRecord,
  before: Transition | undefined,
  { units, failed }: { readonly units: Pick<HostUnits, 'logTail'>; readonly failed: Target | undefined },
): Promise<ComponentRecord> {
  if (!('failure' in record) || before?.direction !== 'Forward') return record;
  return { ...record, failure: await explained(record.failure, units, failed) };
}

async function explained(
  failure: TransitionFailure,
  units: Pick<HostUnits, 'logTail'>,
  failed: Target | undefined,
): Promise<TransitionFailure> {
  for (const { name } of failed?.units ?? []) {
    // Without its log the reason is reported all the same.
    const text = (await units.logTail(name, MAX_BYTES).catch(() => '')).trim();
    const lines = printableLine(text.replaceAll(/\s*\n\s*/g, ' | '));
    if (lines !== '') return { ...failure, message: `${failure.message}. Last lines of ${name}: ${lines}` };
  }
  return failure;
}
