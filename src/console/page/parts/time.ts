/** The time for the ages on the page. */
import { useEffect, useState } from 'preact/hooks';

/** Ages are shown in seconds only while they are short. */
const AGE_MS = 5000;

/** In milliseconds, renewed every few seconds. */
export function useNow(): number {
  const [now, setNow] = useState(readTime);
  useEffect(() => {
    const timer = setInterval(() => setNow(readTime()), AGE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function readTime(): number {
  return performance.timeOrigin + performance.now();
}

export function clockText(ms: number, second?: '2-digit'): string {
  return new Date(ms).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    ...(second && { second }),
    hour12: false,
  });
}
