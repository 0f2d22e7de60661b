/** Turns what is wrong with a host or a key before any connection into an error of the input. */
import { optional } from '../../../kube/objects/optional.ts';
import { isSshError } from '../../../providers/ssh/errors.ts';
import { CliError, EXIT } from '../../errors.ts';

/** Throws any other error. */
export function toInputError(error: unknown): CliError {
  if (!isSshError(error, 'InvalidTarget', 'InvalidKey')) throw error;
  return new CliError(error.message, {
    ...optional('where', error.where),
    ...optional('hint', error.hint),
    exitCode: EXIT.badInput,
  });
}
