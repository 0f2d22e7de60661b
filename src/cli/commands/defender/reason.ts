/** The reason of a person, as the ledger keeps it. */
import { InvalidArgumentError } from 'commander';

export function parseReason(text: string): string {
  const reason = text.trim();
  if (reason === '' || reason.length > 256) {
    throw new InvalidArgumentError('Expected a text of 1 to 256 characters.');
  }
  return reason;
}
