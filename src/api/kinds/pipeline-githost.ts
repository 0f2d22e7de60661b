/** The git host of a Pipeline: what sync sends to it, and what it accepted. */
import { count } from '../common.ts';
import { choice, listMap, message, name, named, rules, text, time } from '../schema.ts';

const GIT_HOST_URL =
  "!has(self.url) || self.url.matches('^(https://|http://(localhost|127[.][0-9.]+|[[]::1[]])(:[0-9]+)?(/|$))')";

export const gitHost = rules(
  named('GitHost', 'The git host that shows how far each commit is.', {
    type: choice('The API of the host. Default: by its name, for github.com, gitlab.com and codeberg.org.', [
      'GitHub',
      'GitLab',
      'Gitea',
    ]).optional(),
    url: name(
      'Address of the host. Default: https and the host of the repository. Set it for a path or a port, or if ssh has a host of its own.',
      512,
    ).optional(),
    context: name(
      'Name of the commit status at the host. Default: kubenode/<name of the Pipeline>. Hubs that report about the same commits need different ones.',
      100,
    ).optional(),
    link: name(
      'Page that the commit status links to, such as the console. Default: no link.',
      512,
    ).optional(),
  }),
  {
    rule: GIT_HOST_URL,
    message: 'use a URL that begins with https://; plain http is allowed for loopback addresses only',
    fieldPath: '.url',
  },
  {
    rule: "!has(self.link) || self.link.matches('^https?://')",
    message: 'use a URL that begins with https:// or http://',
    fieldPath: '.link',
  },
);

export const commitStatuses = named(
  'PipelineCommitStatuses',
  'The commit statuses that the git host accepted.',
  {
    address: text('Repository and name of the statuses: for another address they are sent again.', {
      max: 1024,
    }).optional(),
    commits: listMap(
      'The commits, newest first.',
      ['commit'],
      named('SentCommitStatus', 'The status of one commit.', {
        commit: text('Commit id.', { max: 64 }),
        state: choice('The state that was sent.', ['Pending', 'Succeeded', 'Failed', 'Superseded']),
        message: message('The text that was sent.').optional(),
        sent: count('How often a status of this commit was sent.'),
        sentAt: time('When it was last sent.').optional(),
      }),
      [0, 128],
    ).optional(),
  },
);
