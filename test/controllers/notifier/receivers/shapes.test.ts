import { describe, expect, it } from 'vitest';
import { requestFor } from '../../../../src/controllers/notifier/receivers/shapes.ts';
import { notice } from '../jobs.ts';

const content = { notice: notice({ runbook: 'https://runbooks.example.com/k' }), cluster: 'prod-1' };

function bodyOf(type: Parameters<typeof requestFor>[0], given = content): Record<string, unknown> {
  return JSON.parse(requestFor(type, given, { secret: 'top-secret' }).body) as Record<string, unknown>;
}

describe('the request of a notice', () => {
  it('has everything for a webhook, with its token and an id for those that get it twice', () => {
    const { headers, body } = requestFor('Webhook', content, { secret: 'top-secret' });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer top-secret',
      'idempotency-key': 'job-uid-1/s1',
    });
    expect(JSON.parse(body)).toEqual({ version: 1, cluster: 'prod-1', ...content.notice });
    expect(requestFor('Webhook', content, { secret: undefined }).headers).not.toHaveProperty('authorization');
  });

  it('is text for Slack, in which what people wrote is not markup', () => {
    const odd = notice({ summary: 'n17: <!channel> & more', queue: 'a>b' });
    expect(bodyOf('Slack', { ...content, notice: odd })).toEqual({
      text: [
        '*page* for a&gt;b: n17: &lt;!channel&gt; &amp; more in prod-1',
        '`kubenode why machine n17`, job n17-kernel-hang-0a1b2c3d-r1-a1',
      ].join('\n'),
    });
    expect(String(bodyOf('Slack')['text'])).toMatch(/\nrunbook: https:\/\/runbooks.example.com\/k$/);
  });

  it('is an event of PagerDuty that belongs to the incident of the case', () => {
    expect(bodyOf('PagerDuty')).toEqual({
      routing_key: 'top-secret',
      event_action: 'trigger',
      dedup_key: 'kubenode/uid-n17/kernel-hang/0a1b2c3d',
      client: 'kubenode',
      payload: {
        summary: content.notice.summary,
        source: 'prod-1/n17',
        severity: 'critical',
        timestamp: content.notice.at,
        component: 'kernel-hang',
        group: 'platform',
        class: 'Kernel',
        custom_details: {
          id: 'job-uid-1/s1',
          job: content.notice.job,
          commit: content.notice.commit,
          evidence: [],
        },
      },
      links: [{ href: 'https://runbooks.example.com/k', text: 'Runbook' }],
    });
  });

  it('ends the incident at PagerDuty, and is a line of Slack, when the machine needs no person any more', () => {
    const over = {
      ...content,
      notice: notice({ event: 'Resolved', summary: 'n17: needs no person any more' }),
    };
    expect(bodyOf('PagerDuty', over)).toEqual({
      routing_key: 'top-secret',
      event_action: 'resolve',
      dedup_key: 'kubenode/uid-n17/kernel-hang/0a1b2c3d',
    });
    expect(String(bodyOf('Slack', over)['text'])).toMatch(
      /^\*resolved\* for platform: n17: needs no person any more in prod-1\n/,
    );
  });

  it.each(['see the wiki', 'javascript:alert(1)', 'https://'])(
    'has no link that PagerDuty would refuse: %s',
    (runbook) => {
      expect(bodyOf('PagerDuty', { ...content, notice: notice({ runbook }) })).not.toHaveProperty('links');
    },
  );

  it('stays within what PagerDuty accepts', () => {
    const { payload, dedup_key } = bodyOf('PagerDuty', {
      ...content,
      notice: notice({ summary: 'x'.repeat(2000) }),
    }) as { payload: { summary: string }; dedup_key: string };
    expect(payload.summary).toHaveLength(1024);
    expect(dedup_key.length).toBeLessThanOrEqual(255);
  });
});
