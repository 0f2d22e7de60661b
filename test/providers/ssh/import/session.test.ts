import { describe, expect, it } from 'vitest';
import { agentCommandError } from '../../../../src/providers/ssh/import/session.ts';

describe('agentCommandError', () => {
  it.each<[exitCode: number | undefined, errorLine: string, code: string, message: string]>([
    [65, 'HostInUse: this host belongs to n0', 'HostInUse', 'this host belongs to n0'],
    [65, 'HostInUse this host belongs to n0', 'HostInUse', 'this host belongs to n0'],
    [65, 'Other: x', 'AgentFailed', 'the test failed: it ended with 65: Other: x'],
    [1, 'HostInUse: x', 'AgentFailed', 'the test failed: it ended with 1: HostInUse: x'],
    [
      126,
      'sh: Permission denied',
      'ProgramRefused',
      'the host does not start the program of the agent: sh: Permission denied',
    ],
    [1, '', 'AgentFailed', 'the test failed: it ended with 1'],
    [undefined, '', 'ScriptFailed', 'the test failed: a signal ended it'],
  ])('%s %j is %s', (exitCode, errorLine, code, message) => {
    const error = agentCommandError({ exitCode, errorLine, output: '' }, 'test', 'n1');
    expect(error).toMatchObject({ code, message, where: 'n1' });
  });
});
