/** Maps a failed connection to a git server to an error. */
import { describeNetworkError } from '../../../os/net/network-errors.ts';
import { GitError } from '../errors.ts';

export function gitNetworkError(error: unknown, display: string): GitError {
  const { kind, message, code } = describeNetworkError(error);
  const details = { where: display, cause: error };
  switch (kind) {
    case 'certificate':
      return new GitError('Certificate', `the server's certificate is not trusted (${code})`, {
        ...details,
        hint: 'check the URL, or put the authority into a Secret and name it in spec.source.caRef',
      });
    case 'timeout':
      return new GitError('Timeout', 'the server did not answer in time', {
        ...details,
        hint: 'sync retries',
      });
    case 'unreachable':
      return new GitError('Unreachable', message, {
        ...details,
        hint: 'check the URL and the network; sync retries',
      });
    default:
      return kind satisfies never;
  }
}
