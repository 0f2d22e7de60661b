/** Records the attempts at the upkeep of an etcd of pods beside the record of its control plane. Each is recorded before it begins. */
import type { Client } from '../../../../../kube/client/client.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { messageOf } from '../../../../../os/errors.ts';
import { begunAttempt, failedAttempt } from '../../attempts.ts';
import type { BackupAttempt, PlaneOwner } from '../../driver.ts';
import type { DrillCheck } from '../../etcd/drill/check.ts';
import { attemptOf, type UpkeepKind, withAttempt } from '../record.ts';
import { changeRecord } from './record.ts';

export interface AttemptParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly plane: PlaneOwner;
  readonly kind: UpkeepKind;
  /** One that it ended was interrupted. */
  readonly signal?: AbortSignal | undefined;
}

export async function recordWorkloadAttempt(
  parts: AttemptParts,
  work: () => Promise<DrillCheck | void>,
): Promise<void> {
  const { client, clock, plane, kind, signal } = parts;
  const at = clock.now();
  let begun: BackupAttempt = { at };
  const write = async (next: (before: BackupAttempt | undefined) => BackupAttempt): Promise<void> => {
    await changeRecord(client, plane, (record) => {
      begun = next(attemptOf(record, kind));
      return withAttempt(record, kind, begun);
    });
  };
  await write((before) => begunAttempt(before, at));
  let checked: DrillCheck | undefined;
  try {
    checked = (await work()) ?? undefined;
  } catch (error) {
    if (signal?.aborted !== true) await write(() => failedAttempt(begun, messageOf(error)));
    throw error;
  }
  await write(() => ({ at, ...optional('checked', checked) }));
}
