/** Errors of a host that the agent acts on. */
import { OsError, type OsErrorCode, type OsErrorDetails } from '../../os/errors.ts';

export type HostErrorCode =
  | OsErrorCode
  | 'UnitFailed' // the unit did not start, or a OneShot exited with another code than 0
  | 'UnitNotFound' // the host has no such unit
  | 'BadArchive' // the archive is damaged, or an entry leaves its directory
  | 'TooLarge' // more bytes or entries than the limit
  | 'NotSupported'; // this type of host lacks it

export class HostError extends OsError<HostErrorCode> {
  override readonly name = 'HostError';
}

export type { OsErrorDetails };

/** The same download may succeed later: the server is busy, or the connection broke. What arrived is kept. */
export class RetryLater extends HostError {
  /** How long the server asked to wait; undefined when it did not ask. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: OsErrorDetails & { readonly retryAfterMs: number | undefined }) {
    super('Download', message, details);
    this.retryAfterMs = details.retryAfterMs;
  }
}
