/** Errors of taking over and releasing a host. The command line prints the code as the first word, for the caller at the other end of SSH. */
import { OsError } from '../../os/errors.ts';

export type TakeoverErrorCode =
  | 'HostInUse' // another Machine owns this host
  | 'BadInput' // what the caller sent is not what it should be
  | 'FileInUse' // the host has a file of its own where an import would write one
  | 'WrongCertificate'; // the certificate is not for this machine, or not for the key on this host

export class TakeoverError extends OsError<TakeoverErrorCode> {
  override readonly name = 'TakeoverError';
}
