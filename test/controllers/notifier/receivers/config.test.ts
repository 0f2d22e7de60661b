import { describe, expect, it } from 'vitest';
import { parseNotifications } from '../../../../src/controllers/notifier/receivers/config.ts';

const PATH = '/etc/kubenode/notifications.yaml';

function problemOf(receivers: unknown): { readonly message: string } {
  try {
    parseNotifications(JSON.stringify({ receivers }), PATH);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was accepted');
}

const webhook = { name: 'tickets', type: 'Webhook', url: 'https://tickets.example.com/hook' };

describe('the file of --notifications', () => {
  it('is YAML, and PagerDuty has its URL and pages only by default', () => {
    const text = `cluster: prod-1
receivers:
  - { name: on-call, type: PagerDuty, keyFile: /secrets/key }
  - { name: chat, type: Slack, urlFile: /secrets/slack, severities: [page, ticket], queues: [platform] }
`;
    expect(parseNotifications(text, PATH)).toEqual({
      cluster: 'prod-1',
      receivers: [
        {
          name: 'on-call',
          type: 'PagerDuty',
          keyFile: '/secrets/key',
          url: 'https://events.pagerduty.com/v2/enqueue',
          severities: ['page'],
          sendResolved: true,
        },
        {
          name: 'chat',
          type: 'Slack',
          urlFile: '/secrets/slack',
          severities: ['page', 'ticket'],
          queues: ['platform'],
        },
      ],
    });
  });

  it('may send other severities and another URL to PagerDuty', () => {
    const own = {
      name: 'eu',
      type: 'PagerDuty',
      keyFile: 'k',
      url: 'https://eu.example.com',
      severities: ['info'],
      sendResolved: false,
    };
    expect(parseNotifications(JSON.stringify({ receivers: [own] }), PATH).receivers).toEqual([own]);
  });

  it.each([
    ['no receiver', [], 'notifications: receivers needs at least 1 entry'],
    ['a field that does not exist', [{ ...webhook, urls: 'x' }], 'did you mean url?'],
    [
      'an unknown type',
      [{ ...webhook, type: 'Teams' }],
      'receivers[0].type must be one of Webhook, Slack, PagerDuty',
    ],
    ['an unknown severity', [{ ...webhook, severities: ['loud'] }], 'must be one of page, ticket, info'],
    ['a URL of another protocol', [{ ...webhook, url: 'file:///etc' }], 'receivers[0].url must be'],
    [
      'two URLs',
      [{ ...webhook, urlFile: 'x' }],
      'receiver tickets of type Webhook needs either url or urlFile',
    ],
    ['no URL', [{ name: 'chat', type: 'Slack' }], 'receiver chat of type Slack needs either url or urlFile'],
    ['no key', [{ name: 'p', type: 'PagerDuty' }], 'receiver p of type PagerDuty needs keyFile'],
    [
      'a token of PagerDuty',
      [{ name: 'p', type: 'PagerDuty', keyFile: 'k', tokenFile: 't' }],
      'takes no tokenFile',
    ],
    ['a key of a webhook', [{ ...webhook, keyFile: 'k' }], 'takes no keyFile'],
    ['a name twice', [webhook, webhook], 'receivers: tickets is declared twice'],
    [
      '17 receivers',
      Array.from({ length: 17 }, (_, n) => ({ ...webhook, name: `r${n}` })),
      'at most 16 entries',
    ],
  ])('is refused with %s', (_, receivers, expected) => {
    expect(problemOf(receivers)).toMatchObject({
      code: 'BadInput',
      where: PATH,
      message: expect.stringContaining(expected) as string,
    });
  });

  it.each([
    ['text that is not YAML', '{', 'it is not YAML'],
    ['an empty file', '', 'must be a map of fields'],
  ])('is refused as %s', (_, text, expected) => {
    expect(() => parseNotifications(text, PATH)).toThrow(expected);
  });
});
