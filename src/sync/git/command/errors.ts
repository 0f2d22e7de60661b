/**
 * Maps the stderr of git and ssh to errors. Both exit with 128 or 255 whatever happened, so their messages are the only
 * information; LC_ALL=C keeps them stable, and the conformance suite produces them with the real programs.
 */
import { GitError, type GitErrorCode, REWRITE_HINT } from '../errors.ts';

interface KnownError {
  readonly pattern: RegExp;
  readonly code: GitErrorCode;
  readonly what: string;
  readonly hint: string;
}

const RETRY = 'sync retries. If this persists, check the server and the network';
const URL_OR_RIGHTS = 'check --from or spec.source.repository, and that the credentials allow reading it';

/** The first match wins: causes come before their consequences. */
const KNOWN_ERRORS: readonly KnownError[] = [
  {
    pattern: /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No \S+ host key is known/,
    code: 'HostKey',
    what: 'the ssh server did not present a declared host key',
    hint: 'verify the key with the owner of the server, then add it to spec.source.hostKeys (ssh-keyscan prints it)',
  },
  {
    pattern:
      /Permission denied \(|Too many authentication failures|Load key .*(invalid format|error in libcrypto)/,
    code: 'Unauthorized',
    what: 'the ssh server refuses the key',
    hint: 'check that the Secret of credentialsRef contains a private key, and that its public key may read the repository',
  },
  {
    pattern: /dubious ownership|[Pp]ermission denied/,
    code: 'Unauthorized',
    what: 'the repository belongs to another user',
    hint: 'run sync as the owner of the folder, or change its owner',
  },
  {
    pattern: /[Cc]ouldn't find remote ref|Remote branch .* not found/,
    code: 'NotFoundRef',
    what: 'the repository has no such ref',
    hint: 'check spec.source.ref, and that the branch was pushed',
  },
  {
    pattern: /not our ref|unadvertised object|Server does not allow request/,
    code: 'NotFoundObject',
    what: 'the server does not serve this commit',
    hint: 'fetch a branch that contains it',
  },
  {
    pattern: /Connection timed out|Operation timed out|Timeout, server .* not responding/,
    code: 'Timeout',
    what: 'the server did not answer in time',
    hint: RETRY,
  },
  {
    pattern:
      /Could not resolve hostname|Connection refused|Connection reset|No route to host|Network is unreachable|Connection closed|kex_exchange_identification|Broken pipe/,
    code: 'Unreachable',
    what: 'the server cannot be reached',
    hint: RETRY,
  },
  {
    pattern: /cannot run ssh|error: cannot run|ssh: not found/,
    code: 'MissingTool',
    what: 'the ssh command could not be started',
    hint: 'install the OpenSSH client where kubenode runs; https URLs do not need it',
  },
  {
    pattern: /fsck error in/,
    code: 'InvalidObject',
    what: 'git fsck refuses an object of the commit',
    hint: REWRITE_HINT,
  },
  {
    pattern:
      /does not appear to be a git repository|Repository not found|not found\.$|No such file or directory|project you were looking for could not be found/m,
    code: 'NotFoundRepository',
    what: 'the repository does not exist, or is not a git repository',
    hint: URL_OR_RIGHTS,
  },
  {
    pattern:
      /early EOF|index-pack failed|bad object|did not send all necessary objects|missing (blob|tree|commit)|corrupt|fsck error|invalid object|unexpected disconnect|the remote end hung up/,
    code: 'Corrupt',
    what: 'the response of the server is truncated or corrupt',
    hint: 'sync fetches it again. If this persists, run git fsck on the repository',
  },
];

const NO_REPOSITORY = {
  what: 'the folder is not a git repository',
  hint: 'run `git init` in it and commit its files, or name the folder that contains .git',
};

/** `folderExists`: the URL names a folder of this machine that is there. */
export function commandError(stderr: string, display: string, folderExists = false): GitError {
  const found = KNOWN_ERRORS.find(({ pattern }) => pattern.test(stderr));
  const known = folderExists && found?.code === 'NotFoundRepository' ? { ...found, ...NO_REPOSITORY } : found;
  if (known) {
    return new GitError(known.code, known.what, {
      where: display,
      hint: known.hint,
      cause: new Error(tail(stderr)),
    });
  }
  return new GitError('Corrupt', `git failed: ${tail(stderr) || 'no output'}`, {
    where: display,
    hint: URL_OR_RIGHTS,
  });
}

/** The last lines are closest to the cause; the server may have sent many more. */
function tail(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-3).join('; ').slice(-400);
}
