export const REPORT_FORMATS = ['html', 'junit', 'sarif', 'markdown', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
