import { describe, expect, it } from 'vitest';
import { commandError } from '../../../../src/sync/git/command/errors.ts';

describe('commandError', () => {
  it.each([
    ['Host key verification failed.\nfatal: Could not read from remote repository.', 'HostKey'],
    ['git@example.com: Permission denied (publickey).', 'Unauthorized'],
    ['Load key "/tmp/key": error in libcrypto', 'Unauthorized'],
    ["fatal: detected dubious ownership in repository at '/srv/fleet.git'", 'Unauthorized'],
    ["fatal: couldn't find remote ref refs/heads/none", 'NotFoundRef'],
    ['fatal: remote error: upload-pack: not our ref 1234', 'NotFoundObject'],
    ['ssh: connect to host example.com port 22: Connection timed out', 'Timeout'],
    ['ssh: connect to host example.com port 22: Connection refused', 'Unreachable'],
    ['ssh: Could not resolve hostname example.com: Name or service not known', 'Unreachable'],
    ['error: cannot run ssh: No such file or directory', 'MissingTool'],
    ["fatal: '/srv/none.git' does not appear to be a git repository", 'NotFoundRepository'],
    ['fatal: early EOF\nfatal: fetch-pack: invalid index-pack output', 'Corrupt'],
    [
      'error: object 12: hasDotgit: contains .git\nfatal: fsck error in packed object\nfatal: index-pack failed',
      'InvalidObject',
    ],
    ['fatal: something new', 'Corrupt'],
    ['', 'Corrupt'],
  ])('maps %j to %s', (stderr, code) => {
    const error = commandError(stderr, 'ssh://git@example.com/fleet');
    expect(error).toMatchObject({ code, where: 'ssh://git@example.com/fleet' });
    expect(error.hint).toEqual(expect.any(String));
  });

  it.each([
    [true, 'the folder is not a git repository', 'git init'],
    [false, 'the repository does not exist, or is not a git repository', '--from'],
  ])('tells a folder without a repository from a path that does not exist: %s', (exists, what, hint) => {
    const stderr = "fatal: '/srv/fleet' does not appear to be a git repository";
    const error = commandError(stderr, 'file:///srv/fleet', exists);
    expect([error.code, error.message]).toEqual(['NotFoundRepository', what]);
    expect(error.hint).toContain(hint);
  });

  it('reports the cause before its consequence', () => {
    const stderr = 'Connection closed by 10.0.0.1 port 22\r\nfatal: the remote end hung up unexpectedly';
    expect(commandError(stderr, '').code).toBe('Unreachable');
  });
});
