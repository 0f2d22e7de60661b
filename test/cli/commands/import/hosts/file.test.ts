import { describe, expect, it } from 'vitest';
import { readHostsFile } from '../../../../../src/cli/commands/import/hosts/file.ts';

const DEFAULTS = { port: 2022, user: 'admin' };
const FINGERPRINT = `SHA256:${'a'.repeat(43)}`;

function problems(text: string): string[] {
  return readHostsFile(text, DEFAULTS).problems.map(({ line, message }) => `${line}: ${message}`);
}

describe('readHostsFile', () => {
  it('reads hosts with all fields, and with the least', () => {
    const text = `hosts:
  - address: 10.4.7.3
  - address: n2.example.com
    port: 22
    user: root
    name: n2
    zone: rack7
    labels: {pool: storage}
    hostKeys: [{algorithm: ssh-ed25519, fingerprint: "${FINGERPRINT}"}]
    via: {address: bastion, hostKeys: [{algorithm: ssh-rsa, fingerprint: "${FINGERPRINT}"}]}
  - {address: n3, via: {address: bastion, port: 2, user: jump}}
`;
    const key = { algorithm: 'ssh-ed25519', fingerprint: FINGERPRINT };
    expect(readHostsFile(text, DEFAULTS)).toEqual({
      problems: [],
      hosts: [
        { target: { address: '10.4.7.3', port: 2022, user: 'admin' } },
        {
          target: { address: 'n2.example.com', port: 22, user: 'root' },
          name: 'n2',
          zone: 'rack7',
          labels: { pool: 'storage' },
          hostKeys: [key],
          via: {
            target: { address: 'bastion', port: 22, user: 'admin' },
            hostKeys: { type: 'Pinned', keys: [{ ...key, algorithm: 'ssh-rsa' }] },
          },
        },
        {
          target: { address: 'n3', port: 2022, user: 'admin' },
          via: {
            target: { address: 'bastion', port: 2, user: 'jump' },
            hostKeys: { type: 'TrustOnFirstUse' },
          },
        },
      ],
    });
  });

  it('reports all problems at once, each with its line', () => {
    const text = `defaults: {user: x}
hosts:
  - name: n1
  - address: -oProxyCommand=x
    port: "22"
    adress: n3
  - address: n2
    hostKeys:
      - {algorithm: ssh-dss, fingerprint: MD5:00}
      - {algorithm: ssh-rsa}
  - n5
  - {address: n6, via: n7}
  - {address: n8, hostKeys: [], labels: {kubenode.dev/x: "1"}}
  - {address: n9, labels: {a: 1}, name: N_9, zone: " "}
`;
    expect(problems(text)).toEqual([
      '1: unknown field defaults: expected hosts only',
      '3: address is missing',
      '4: address: expected a host name or an IP address, got "-oProxyCommand=x"',
      '5: port: expected an integer from 1 to 65535, got "22"',
      '6: unknown field adress: expected address, port, user, name, zone, labels, hostKeys, via',
      '9: algorithm: expected a type of key, such as ssh-ed25519, got "ssh-dss"',
      '9: fingerprint: expected a fingerprint as `ssh-keygen -l` prints it: SHA256:…, got "MD5:00"',
      '10: fingerprint is missing',
      '11: expected an object with address, port, user, name, zone, labels, hostKeys, via',
      '12: via: expected an object with address, got "n7"',
      '13: labels: labels that begin with kubenode.dev/ are set by kubenode itself, got {"kubenode.dev/x":"1"}',
      '14: labels: expected a text as the value of a: quote numbers and true, got {"a":1}',
      '14: name: expected lower-case letters, digits, "-" and ".", with a letter or digit at both ends, such as prod-eu-1, got "N_9"',
      '14: zone: expected letters, digits, "-", "_" and ".", with a letter or digit at both ends, got " "',
    ]);
    expect(readHostsFile(text, DEFAULTS).hosts).toEqual([]);
  });

  it.each([
    ['', '1: expected a list "hosts"'],
    ['hosts: n1', '1: expected a list "hosts"'],
    ['hosts: []', '1: hosts is empty: expected at least one'],
    ['hosts:\n  - {address: n1, hostKeys: []}', '2: hostKeys: expected 1 to 8 keys'],
    ['hosts:\n  - {address: n1, address: n2}', '2: Map keys must be unique'],
    [
      'hosts:\n  - {address: n1',
      '2: Flow map in block collection must be sufficiently indented and end with a }',
    ],
  ])('refuses %j', (text, expected) => {
    expect(problems(text)[0]).toBe(expected);
  });

  it('refuses aliases that expand to a huge value', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(9)}]`,
    );
    expect(problems(['a0: &a0 [x]', ...levels, 'hosts: []'].join('\n'))[0]).toMatch(
      /^1: Excessive alias count/,
    );
  });
});
