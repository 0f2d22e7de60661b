/** Turns what a step threw into a failure, and tells when the step is repeated. */
import type { Machine } from '../../../../api/generated/types.ts';
import { SecretError } from '../../../../api/secrets/read.ts';
import { credentialsFailure, type ImportFailure, importFailure, importRetryMs } from '../failure.ts';
import type { ImportParts } from './steps.ts';

export function stepFailure(machine: Machine, error: unknown): ImportFailure {
  return error instanceof SecretError ? credentialsFailure(machine, error) : importFailure(error);
}

export function retryAt(
  failure: ImportFailure,
  failures: number,
  { clock }: Pick<ImportParts, 'clock'>,
): Date {
  return new Date(clock.now().getTime() + importRetryMs(failure, failures));
}
