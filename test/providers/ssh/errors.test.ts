import { describe, expect, it } from 'vitest';
import { isSshError, SshError, toSshError } from '../../../src/providers/ssh/errors.ts';

describe('toSshError', () => {
  it.each([
    [{ level: 'client-authentication' }, 'AuthRefused', 'the host refuses every key that was offered'],
    [{ level: 'handshake' }, 'HandshakeFailed', 'the SSH handshake failed: x'],
    [{ level: 'protocol' }, 'HandshakeFailed', 'the SSH handshake failed: x'],
    [{}, 'HandshakeFailed', 'the SSH handshake failed: x'],
    [
      { level: 'client-socket', code: 'ECONNREFUSED' },
      'Unreachable',
      'no SSH connection: the connection was refused',
    ],
    [
      { level: 'client-socket', code: 'EHOSTUNREACH' },
      'Unreachable',
      'no SSH connection: the host cannot be reached from this machine',
    ],
    [
      { level: 'client-socket', code: 'ENETUNREACH' },
      'Unreachable',
      'no SSH connection: the network of the host cannot be reached from this machine',
    ],
    [{ level: 'client-socket', code: 'EOTHER' }, 'Unreachable', 'no SSH connection: EOTHER'],
    [{ code: 2 }, 'Unreachable', 'no SSH connection: x'],
  ])('%j is %s', (fields, code, message) => {
    const error = toSshError(Object.assign(new Error('x'), fields), 'root@n1:22');
    expect(error).toMatchObject({ code, message, where: 'root@n1:22', hint: expect.any(String) as string });
  });

  it.each([
    ['EHOSTUNREACH', 'check that the host is up'],
    ['ENETUNREACH', 'check the routes of this machine'],
    ['ENOTFOUND', 'check the address and the port'],
  ])('tells what to do about %s', (code, hint) => {
    const { hint: told } = toSshError(Object.assign(new Error('x'), { code }), 'root@n1:22');
    expect(told).toMatch(new RegExp(`^${hint}`));
  });

  it('leaves an error that is one already', () => {
    const error = new SshError('Timeout', 'x', { where: 'n1' });
    expect(toSshError(error, 'n2')).toBe(error);
    expect([isSshError(error), isSshError(error, 'NoSudo'), isSshError(new Error('x'))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
