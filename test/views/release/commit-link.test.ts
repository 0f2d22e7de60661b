import { expect, it } from 'vitest';
import { commitLink } from '../../../src/views/release/commit-link.ts';

const COMMIT = 'a'.repeat(40);
const LINK = `https://git.example.com/team/fleet/commit/${COMMIT}`;

it.each([
  ['https', 'https://git.example.com/team/fleet.git', LINK],
  ['https without the suffix', 'https://git.example.com/team/fleet', LINK],
  ['https with a port', 'https://git.example.com:8443/team/fleet/', LINK.replace('.com', '.com:8443')],
  ['https with a name of a user, which it leaves out', 'https://kim:secret@git.example.com/team/fleet', LINK],
  ['a group in a group', 'https://git.example.com/a/team/fleet', LINK.replace('/team', '/a/team')],
  ['ssh with its own port', 'ssh://git@git.example.com:2222/team/fleet.git', LINK],
  ['the form of scp', 'git@git.example.com:team/fleet.git', LINK],
  ['Bitbucket', 'git@bitbucket.org:team/fleet.git', `https://bitbucket.org/team/fleet/commits/${COMMIT}`],
  [
    'Bitbucket of a company',
    'https://bitbucket.example.com/team/fleet',
    `https://bitbucket.example.com/team/fleet/commits/${COMMIT}`,
  ],
  [
    'another host whose name contains Bitbucket',
    'https://notbitbucket.example.com/team/fleet',
    LINK.replace('git.', 'notbitbucket.'),
  ],
  ['a folder', '/srv/git/fleet', undefined],
  ['a file', 'file:///srv/git/fleet', undefined],
  ['a loopback address', 'http://127.0.0.1:8080/team/fleet', undefined],
  ['a host without a repository', 'https://git.example.com/', undefined],
  ['a script', 'javascript:alert(1)//team/fleet', undefined],
  ['nothing', '', undefined],
])('knows the page of a commit for %s', (_, repository, expected) => {
  expect(commitLink(repository, COMMIT)).toBe(expected);
});

it('has no page for what is not the id of a commit', () => {
  expect(commitLink('https://git.example.com/team/fleet', '../admin')).toBeUndefined();
});
