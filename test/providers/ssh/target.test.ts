import { describe, expect, it } from 'vitest';
import { formatTarget, parseTarget } from '../../../src/providers/ssh/target.ts';

const DEFAULTS = { port: 22, user: 'root' };

describe('parseTarget', () => {
  it.each([
    ['n1', 'root@n1:22'],
    ['admin@n1.example.com:2222', 'admin@n1.example.com:2222'],
    ['10.4.7.3', 'root@10.4.7.3:22'],
    ['10.4.7.3:2022', 'root@10.4.7.3:2022'],
    ['fd00::1', 'root@[fd00::1]:22'],
    ['[fd00::1]:2022', 'root@[fd00::1]:2022'],
    ['a_b.c-d@n1', 'a_b.c-d@n1:22'],
  ])('reads %s as %s', (text, expected) => {
    expect(formatTarget(parseTarget(text, DEFAULTS))).toBe(expected);
  });

  it.each([
    ['', 'the address is empty'],
    ['-oProxyCommand=touch /tmp/x', 'expected a host name or an IP address'],
    ['root@-oProxyCommand=x', 'expected a host name or an IP address'],
    ['n1;reboot', 'expected a host name or an IP address'],
    ['$(reboot)', 'expected a host name or an IP address'],
    ['n1\nn2', 'expected a host name or an IP address'],
    ['n1 n2', 'expected a host name or an IP address'],
    ['fe80::1%eth0', 'expected a host name or an IP address'],
    ['a'.repeat(254), 'the address has more than 253 characters'],
    ['-l@n1', 'expected a user of letters, digits, ".", "-" and "_" that begins with a letter or "_"'],
    ['a b@n1', 'expected a user of letters, digits, ".", "-" and "_" that begins with a letter or "_"'],
    ['a;b@n1', 'expected a user of letters, digits, ".", "-" and "_" that begins with a letter or "_"'],
    [`${'a'.repeat(64)}@n1`, 'the user has more than 63 characters'],
    ['n1:0', 'expected a port from 1 to 65535, got "0"'],
    ['n1:65536', 'expected a port from 1 to 65535, got "65536"'],
    ['n1:ssh', 'expected a port from 1 to 65535, got "ssh"'],
    ['n1:', 'expected a port from 1 to 65535, got ""'],
  ])('MAC-12 refuses an address with other characters or words, such as %j', (text, message) => {
    expect(() => parseTarget(text, DEFAULTS)).toThrow(
      expect.objectContaining({ code: 'InvalidTarget', message, where: JSON.stringify(text) }),
    );
  });
});
