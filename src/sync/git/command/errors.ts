/**
 * What git and ssh say on stderr, as codes. Both end with 128 or 255 whatever happened, so their words are all there is;
 * LC_ALL=C keeps them stable, and the conformance suite meets each line with the real programs.
 */
import { GitError, type GitErrorCode } from '../errors.ts';

interface Row {
  readonly words: RegExp;
  readonly code: GitErrorCode;
  readonly what: string;
  readonly hint: string;
}

const RETRY = 'sync tries again; if it stays, look at the server and the network between';
const URL_OR_RIGHTS = 'check spec.source.repository, and that the key may read it';

/** The first that fits. Causes stand before their consequences. */
const ROWS: readonly Row[] = [
  {
    words: /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No \S+ host key is known/,
    code: 'HostKey',
    what: 'the ssh server does not show a declared host key',
    hint: "check the key with the server's owner, then put its line into spec.source.hostKeys (ssh-keyscan prints it)",
  },
  {
    words:
      /Permission denied \(|Too many authentication failures|Load key .*(invalid format|error in libcrypto)/,
    code: 'Unauthorized',
    what: 'the ssh server refuses the key',
    hint: 'check that the Secret of credentialsRef holds a private key, and that its public half may read the repository',
  },
  {
    words: /dubious ownership|[Pp]ermission denied/,
    code: 'Unauthorized',
    what: 'the repository belongs to another user',
    hint: 'run sync as the owner of the folder, or change its owner',
  },
  {
    words: /[Cc]ouldn't find remote ref|Remote branch .* not found/,
    code: 'NotFoundRef',
    what: 'there is no such ref in this repository',
    hint: 'check spec.source.ref, and that the branch was pushed',
  },
  {
    words: /not our ref|unadvertised object|Server does not allow request/,
    code: 'NotFoundObject',
    what: 'the server does not hand out this commit',
    hint: 'fetch the branch that holds it',
  },
  {
    words: /Connection timed out|Operation timed out|Timeout, server .* not responding/,
    code: 'Timeout',
    what: 'the server did not answer in time',
    hint: RETRY,
  },
  {
    words:
      /Could not resolve hostname|Connection refused|Connection reset|No route to host|Network is unreachable|Connection closed|kex_exchange_identification|Broken pipe/,
    code: 'Unreachable',
    what: 'the server cannot be reached',
    hint: RETRY,
  },
  {
    words: /cannot run ssh|error: cannot run|ssh: not found/,
    code: 'MissingTool',
    what: 'the ssh command could not be started',
    hint: 'install the OpenSSH client where kubenode runs; https URLs do not need it',
  },
  {
    words:
      /does not appear to be a git repository|Repository not found|not found\.$|No such file or directory|project you were looking for could not be found/m,
    code: 'NotFoundRepository',
    what: 'there is no such repository',
    hint: URL_OR_RIGHTS,
  },
  {
    words:
      /early EOF|index-pack failed|bad object|did not send all necessary objects|missing (blob|tree|commit)|corrupt|fsck error|invalid object|unexpected disconnect|the remote end hung up/,
    code: 'Corrupt',
    what: 'what the server sent is cut off or broken',
    hint: 'sync fetches it again; if it stays, check the repository with git fsck',
  },
];

export function commandError(stderr: string, display: string): GitError {
  const row = ROWS.find(({ words }) => words.test(stderr));
  if (row) {
    return new GitError(row.code, row.what, {
      where: display,
      hint: row.hint,
      cause: new Error(tail(stderr)),
    });
  }
  return new GitError('Corrupt', `git failed: ${tail(stderr) || 'without a word'}`, {
    where: display,
    hint: URL_OR_RIGHTS,
  });
}

/** The last words are the nearest to the cause; the remote side may have sent pages. */
function tail(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-3).join('; ').slice(-400);
}
