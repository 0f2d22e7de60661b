import type { JSX } from 'preact';
import type { ConsoleState } from '../state/state.ts';
import { Badge, Section, Since } from './parts.tsx';

export function Notes({ notes }: Pick<ConsoleState, 'notes'>): JSX.Element | null {
  const all = Object.values(notes).toSorted((a, b) => Number(b.bad) - Number(a.bad));
  if (all.length === 0) return null;
  return (
    <Section id="notes" title="To know">
      <ul>
        {all.map(({ text, bad }) => (
          <li key={text}>
            {bad && <span class="badge bad">! needs a person</span>} {text}
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface PipelinesProps extends Pick<ConsoleState, 'pipelines'> {
  readonly now: number;
}

export function Pipelines({ pipelines, now }: PipelinesProps): JSX.Element | null {
  const all = Object.values(pipelines);
  if (all.length === 0) return null;
  return (
    <Section id="pipelines" title="Pipelines">
      <ul>
        {all.map(({ name, phase, commit, verdict, because, since }) => (
          <li key={name}>
            <strong>{name}</strong> <Badge state={phase} /> <code>{commit}</code> {verdict}{' '}
            <Since since={since} now={now} /> {because}
          </li>
        ))}
      </ul>
    </Section>
  );
}
