/** The sections of the structured-IO RFC that its rules are about. */
export const SECTIONS = {
  '3': '接口总览',
  '4': '输出格式语义',
  '5': '事件载荷与注解',
  '6': '输入格式',
  '7': '实时提示、心跳与中断',
  '8': '事件分类与通道',
  '9': '控制请求与响应',
  '10': '版本协商与错误语义',
  '11': '安全与资源控制',
} as const
