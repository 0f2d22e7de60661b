import { describe, expect, it } from 'vitest';
import { createJsonLog } from '../../src/agent/log.ts';
import { NOW } from '../support/virtual-clock.ts';

describe('AGT-61 the log of the agent', () => {
  it('prints JSON lines with its fields, without secrets, and keeps its frame', () => {
    const lines: string[] = [];
    const log = createJsonLog({ write: (line) => void lines.push(line), clock: { now: () => NOW } });
    log
      .with({ component: 'proxy' })
      .info('action done', { token: 'hunter2hunter2', level: 'debug', error: new Error('x') });
    log.debug('hidden');
    expect(lines).toHaveLength(1);
    const parsed = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    expect(parsed).toMatchObject({
      level: 'info',
      time: NOW.toISOString(),
      message: 'action done',
      component: 'proxy',
    });
    expect(lines[0]).not.toContain('hunter2');
  });
});
