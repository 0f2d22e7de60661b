/** Rollouts and repairs that a person has to look at first. Without any, it is not there. */
import type { JSX } from 'preact';
import { repairNeedsAttention, rolloutNeedsAttention } from '../state/attention.ts';
import type { ConsoleState } from '../state/state.ts';
import { Section } from './parts.tsx';
import { Repair, sortRepairs } from './repairs.tsx';
import { Rollout, sortRollouts } from './rollouts.tsx';

interface AttentionProps extends Pick<ConsoleState, 'rollouts' | 'repairs'> {
  readonly now: number;
}

export function Attention({ rollouts, repairs, now }: AttentionProps): JSX.Element | null {
  const stopped = sortRollouts(rollouts).filter(([, card]) => rolloutNeedsAttention(card));
  const waiting = sortRepairs(repairs).filter(([, card]) => repairNeedsAttention(card));
  if (stopped.length + waiting.length === 0) return null;
  return (
    <Section id="attention" title="Needs attention">
      <div class="cards">
        {stopped.map(([key, card]) => (
          <Rollout key={`rollout ${key}`} card={card} now={now} />
        ))}
        {waiting.map(([key, card]) => (
          <Repair key={`repair ${key}`} card={card} now={now} />
        ))}
      </div>
    </Section>
  );
}
