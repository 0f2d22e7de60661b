/** The GitError for an exchange with a git server that failed on the network. */
import { describeNetworkError } from '../../os/network-errors.ts';
import { GitError } from './errors.ts';

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
        hint: 'sync tries again',
      });
    case 'unreachable':
      return new GitError('Unreachable', message, {
        ...details,
        hint: 'check the URL and the network between; sync tries again',
      });
    default:
      return kind satisfies never;
  }
}
