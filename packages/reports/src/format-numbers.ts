// Numbers as people read them in tables and progress lines.

/** 41 s, 3 min 20 s, 2 h 05 min. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} min`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

/** 0.1234 → "12.3 %", 0.07 → "7 %": the one rounding of shares. Never rounds an incomplete share up to 100, nor something down to nothing. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return '<0.1 %';
  if (percent < 100 && percent > 99.9) return '>99.9 %';
  return `${Number(percent.toFixed(1))} %`;
}
