import { describe, expect, it } from 'vitest';
import { CliError, describeError, EXIT } from '../../src/cli/errors.ts';
import { KubeError } from '../../src/kube/client/errors.ts';
import { OsError } from '../../src/os/errors.ts';

describe('describeError', () => {
  it.each<[name: string, error: unknown, text: string, exitCode: number]>([
    [
      'message, where and hint',
      new CliError('no such file', { where: 'a.yaml', hint: 'check the path', exitCode: EXIT.badInput }),
      'error: no such file\n  where: a.yaml\n  hint: check the path',
      65,
    ],
    [
      'a hint for the code of an API error',
      new KubeError('Forbidden', 'get Node n1: forbidden'),
      'error: get Node n1: forbidden\n  hint: request the permission, or use a context whose user has it (kubectl auth can-i --list)',
      77,
    ],
    [
      'a hint for an unreachable server',
      new KubeError('Unreachable', 'connect ECONNREFUSED'),
      'error: connect ECONNREFUSED\n  hint: check that the server is running and that --kubeconfig and --context select it',
      69,
    ],
    [
      'the hint of an error of another part',
      Object.assign(new Error('port 1 is taken'), { hint: 'name another port' }),
      'error: port 1 is taken\n  hint: name another port',
      1,
    ],
    [
      'an invalid file as bad input, where it is an error of the operating system',
      new OsError('BadInput', 'bootstrap file: it does not exist', { where: 'b.json' }),
      'error: bootstrap file: it does not exist\n  where: b.json',
      65,
    ],
    [
      'a port in use as unavailable',
      new OsError('PortInUse', 'the port is in use'),
      'error: the port is in use',
      69,
    ],
    [
      'every error of an AggregateError',
      new AggregateError([new Error('one'), new CliError('two')], 'two failed'),
      'error: two failed\nerror: one\nerror: two',
      1,
    ],
    ['a thrown value that is not an Error', 'a string', 'error: a string', 1],
  ])('prints %s', (_name, error, text, exitCode) => {
    expect(describeError(error)).toEqual({ text, exitCode });
  });

  it('FST-10 gives the hint of the caller for a server that cannot be reached, and for no other error', () => {
    const [unreachable, forbidden] = (['Unreachable', 'Forbidden'] as const).map(
      (code) => describeError(new KubeError(code, 'x'), 'start it').text,
    );
    expect(unreachable).toBe('error: x\n  hint: start it');
    expect(forbidden).not.toContain('start it');
  });
});
